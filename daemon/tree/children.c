/*
 * children.c - one child, a brood of a few, or a table for a wide node.
 *
 * Most nodes have one child: the parent itself knows its frame. Up to LIST_MAX children are a list
 * of broods, cells of three frames and three nodes each; the one used last comes into the first
 * cell, which one look tells about. A node with more has a table of 8-byte entries by hash of the
 * frame (linear probing, between 1/4 and 13/16 full, deletion by shifting back), so that a node of
 * a hundred thousand children costs a push no more than one of ten. All take constant expected time
 * for every operation, whatever the stream: the hash is a multiplication by an odd random 64-bit
 * number (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem,
 * 1997), which nobody can choose frames against. The result of no query depends on that number.
 *
 * The frames stand beside the links everywhere, so that no child is read but the one that is looked
 * for, and none of its siblings when one goes: in a large tree each of them is a wait for memory.
 *
 * Memory: an only child takes none, one of a list 11 to 16 bytes, one of a table 10 to 32.
 */
#include "daemon/tree/children.h"

#include <stdlib.h>

#define LIST_MAX 12u /* children in a list: a multiple of BROOD_ENTRIES */
#define BITS_MIN 5u  /* of a table */
#define BITS_MAX 28u

static struct mcct_brood *brood_of(const struct mcct *tree, const struct mcct_node *parent) {
    return brood_at(&tree->pool, parent->links & NODE_INDEX);
}

static struct mcct_family *family_of(const struct mcct *tree, const struct mcct_node *parent) {
    return family_at(&tree->pool, parent->links & NODE_INDEX);
}

static void set_link(struct mcct_node *parent, uint32_t link) {
    parent->links = (parent->links & (NODE_MONITORED | NODE_RESTED)) | link;
}

static void set_only(struct mcct_node *parent, uint32_t frame, uint32_t child) {
    parent->only = frame;
    set_link(parent, child);
}

/* ---- the table of a wide node ---- */

static uint32_t home_of(const struct mcct *tree, uint32_t bits, uint32_t frame) {
    return (uint32_t)((frame * tree->hash_factor) >> (64 - bits));
}

static size_t table_bytes(uint32_t bits) {
    return sizeof(struct family_slot) << bits;
}

/* The slot of that frame, or the free one where it would go. */
static struct family_slot *table_find(const struct mcct *tree, const struct mcct_family *family,
                                      uint32_t frame) {
    uint32_t mask = (1u << family->bits) - 1, at = home_of(tree, family->bits, frame);
    while (family->slots[at].node != 0 && family->slots[at].frame != frame)
        at = (at + 1) & mask;
    return &family->slots[at];
}

static void table_put(const struct mcct *tree, struct mcct_family *family, uint32_t frame,
                      uint32_t child) {
    *table_find(tree, family, frame) = (struct family_slot){.node = child, .frame = frame};
}

/* Moves the children into a table of that many bits. False: no memory, all is as before. */
static bool table_resize(struct mcct *tree, struct mcct_family *family, uint32_t bits) {
    if (bits > BITS_MAX || !budget_take(&tree->budget, table_bytes(bits)))
        return false;
    struct family_slot *slots = calloc(1u << bits, sizeof *slots);
    if (slots == NULL) {
        budget_give(&tree->budget, table_bytes(bits));
        return false;
    }
    struct mcct_family old = *family;
    family->slots = slots;
    family->bits = bits;
    if (old.slots != NULL) {
        for (uint32_t i = 0; i < 1u << old.bits; i++)
            if (old.slots[i].node != 0)
                table_put(tree, family, old.slots[i].frame, old.slots[i].node);
        free(old.slots);
        budget_give(&tree->budget, table_bytes(old.bits));
    }
    return true;
}

static bool table_add(struct mcct *tree, struct mcct_family *family, uint32_t frame,
                      uint32_t child) {
    if (family->used + 1 > (13u << family->bits) / 16 &&
        !table_resize(tree, family, family->bits + 1))
        return false;
    table_put(tree, family, frame, child);
    family->used++;
    return true;
}

/* Empties the slot, and moves back what only stands behind it because it was taken. */
static void table_clear(const struct mcct *tree, struct mcct_family *family, uint32_t hole) {
    uint32_t mask = (1u << family->bits) - 1;
    for (uint32_t at = (hole + 1) & mask; family->slots[at].node != 0; at = (at + 1) & mask) {
        uint32_t home = home_of(tree, family->bits, family->slots[at].frame);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            family->slots[hole] = family->slots[at];
            hole = at;
        }
    }
    family->slots[hole] = (struct family_slot){0};
    family->used--;
}

static uint32_t table_from(const struct mcct_family *family, size_t at) {
    for (; at < 1u << family->bits; at++)
        if (family->slots[at].node != 0)
            return family->slots[at].node;
    return 0;
}

/* ---- list to table and back ---- */

static void enlist(struct mcct *tree, uint32_t cell) {
    struct mcct_family *family = family_at(&tree->pool, cell);
    family->prev = 0;
    family->next = tree->families;
    if (family->next != 0)
        family_at(&tree->pool, family->next)->prev = cell;
    tree->families = cell;
}

static void delist(struct mcct *tree, const struct mcct_family *family) {
    if (family->prev != 0)
        family_at(&tree->pool, family->prev)->next = family->next;
    else
        tree->families = family->next;
    if (family->next != 0)
        family_at(&tree->pool, family->next)->prev = family->prev;
}

/* The first cell of the full list becomes the head of the table, the others go. */
static bool widen(struct mcct *tree, struct mcct_node *parent) {
    uint32_t first = parent->links & NODE_INDEX;
    struct mcct_family family = {0};
    if (!table_resize(tree, &family, BITS_MIN))
        return false;
    for (uint32_t cell = first, next; cell != 0; cell = next) {
        const struct mcct_brood *brood = brood_at(&tree->pool, cell);
        next = brood->next;
        for (unsigned i = 0; i < BROOD_ENTRIES; i++)
            table_put(tree, &family, brood->frame[i], brood->node[i]);
        family.used += BROOD_ENTRIES;
        if (cell != first)
            node_pool_give(&tree->pool, cell);
    }
    *family_at(&tree->pool, first) = family;
    enlist(tree, first);
    set_link(parent, NODE_WIDE | first);
    return true;
}

/* The head of a table with BROOD_ENTRIES children becomes their brood. */
static void narrow(struct mcct *tree, struct mcct_node *parent) {
    uint32_t cell = parent->links & NODE_INDEX;
    struct mcct_family family = *family_at(&tree->pool, cell);
    struct mcct_brood brood = {.total = 0};
    for (uint32_t i = 0; i < 1u << family.bits; i++)
        if (family.slots[i].node != 0) {
            brood.frame[brood.total] = family.slots[i].frame;
            brood.node[brood.total++] = family.slots[i].node;
        }
    delist(tree, &family);
    budget_give(&tree->budget, table_bytes(family.bits));
    free(family.slots);
    *brood_at(&tree->pool, cell) = brood;
    set_link(parent, NODE_BROOD | cell);
}

static void table_remove(struct mcct *tree, struct mcct_node *parent, uint32_t child) {
    struct mcct_family *family = family_of(tree, parent);
    const struct family_slot *slot =
        table_find(tree, family, node_at(&tree->pool, child)->frame);
    table_clear(tree, family, (uint32_t)(slot - family->slots));
    if (family->used <= BROOD_ENTRIES)
        narrow(tree, parent);
    else if (family->bits > BITS_MIN && family->used < (1u << family->bits) / 4)
        (void)table_resize(tree, family, family->bits - 1); /* else it stays large: no harm */
}

/* ---- broods ---- */

/* How many of the first cell are in use. */
static unsigned used_of(const struct mcct_brood *first) {
    return (first->total - 1) % BROOD_ENTRIES + 1;
}

/* A new first cell, whose one entry is a second or later child. */
static bool put_cell(struct mcct *tree, struct mcct_node *parent, uint32_t next, uint32_t total) {
    uint32_t cell = node_pool_take(&tree->pool);
    if (cell == 0)
        return false;
    struct mcct_brood *brood = brood_at(&tree->pool, cell);
    brood->next = next;
    brood->total = total;
    set_link(parent, NODE_BROOD | cell);
    return true;
}

static void set_entry(struct mcct_brood *brood, unsigned i, uint32_t frame, uint32_t child) {
    brood->frame[i] = frame;
    brood->node[i] = child;
}

/* To one child a second. */
static bool pair_up(struct mcct *tree, struct mcct_node *parent, uint32_t frame, uint32_t child) {
    uint32_t older = parent->links & NODE_INDEX;
    if (!put_cell(tree, parent, 0, 2))
        return false;
    struct mcct_brood *brood = brood_of(tree, parent);
    set_entry(brood, 0, parent->only, older);
    set_entry(brood, 1, frame, child);
    return true;
}

static bool brood_add(struct mcct *tree, struct mcct_node *parent, uint32_t frame, uint32_t child) {
    struct mcct_brood *brood = brood_of(tree, parent);
    unsigned used = used_of(brood);
    if (used < BROOD_ENTRIES) {
        brood->total++;
        set_entry(brood, used, frame, child);
        return true;
    }
    if (!put_cell(tree, parent, parent->links & NODE_INDEX, brood->total + 1))
        return false;
    set_entry(brood_of(tree, parent), 0, frame, child);
    return true;
}

/* Where the child stands: its cell, and its place there. It is among the children. */
static struct mcct_brood *locate(const struct mcct *tree, const struct mcct_node *parent,
                                 uint32_t child, unsigned *place) {
    for (struct mcct_brood *brood = brood_of(tree, parent);; brood = brood_at(&tree->pool,
                                                                              brood->next))
        for (unsigned i = 0; i < BROOD_ENTRIES; i++)
            if (brood->node[i] == child) {
                *place = i;
                return brood;
            }
}

/* The last of the first cell takes the place of the one that goes. */
static void brood_remove(struct mcct *tree, struct mcct_node *parent, uint32_t child) {
    uint32_t cell = parent->links & NODE_INDEX;
    struct mcct_brood *first = brood_of(tree, parent);
    unsigned place, last = used_of(first) - 1;
    struct mcct_brood *brood = locate(tree, parent, child, &place);
    set_entry(brood, place, first->frame[last], first->node[last]);
    set_entry(first, last, 0, 0);
    first->total--;
    if (first->total == 1)
        set_only(parent, first->frame[0], first->node[0]);
    else if (last == 0) {
        brood_at(&tree->pool, first->next)->total = first->total;
        set_link(parent, NODE_BROOD | first->next);
    } else
        return;
    node_pool_give(&tree->pool, cell);
}

static uint32_t brood_search(const struct mcct *tree, const struct mcct_brood *brood,
                             uint32_t frame) {
    uint32_t child = brood_find(brood, frame);
    for (; child == 0 && brood->next != 0; child = brood_find(brood, frame))
        brood = brood_at(&tree->pool, brood->next);
    return child;
}

/* One that is found in another cell changes places with one of the first. */
static uint32_t brood_recall(const struct mcct *tree, struct mcct_brood *first, uint32_t frame) {
    uint32_t child = brood_find(first, frame);
    struct mcct_brood *brood = first;
    while (child == 0 && brood->next != 0) {
        brood = brood_at(&tree->pool, brood->next);
        child = brood_find(brood, frame);
    }
    if (child == 0 || brood == first)
        return child;
    unsigned i = 0;
    while (brood->node[i] != child)
        i++;
    set_entry(brood, i, first->frame[0], first->node[0]);
    set_entry(first, 0, frame, child);
    return child;
}

/* ---- any of these ---- */

uint32_t children_find(const struct mcct *tree, const struct mcct_node *parent, uint32_t frame) {
    if (parent->links & NODE_WIDE)
        return table_find(tree, family_of(tree, parent), frame)->node;
    if (parent->links & NODE_BROOD)
        return brood_search(tree, brood_of(tree, parent), frame);
    return parent->only == frame ? parent->links & NODE_INDEX : 0;
}

uint32_t children_recall(const struct mcct *tree, struct mcct_node *parent, uint32_t frame) {
    if (parent->links & NODE_BROOD)
        return brood_recall(tree, brood_of(tree, parent), frame);
    return children_find(tree, parent, frame);
}

bool children_add(struct mcct *tree, uint32_t parent, uint32_t child) {
    struct mcct_node *up = node_at(&tree->pool, parent);
    uint32_t frame = node_at(&tree->pool, child)->frame;
    if ((up->links & NODE_BROOD) && brood_of(tree, up)->total == LIST_MAX && !widen(tree, up))
        return false; /* a list must not grow without limit just because memory is short */
    if (up->links & NODE_WIDE)
        return table_add(tree, family_of(tree, up), frame, child);
    if (up->links & NODE_BROOD)
        return brood_add(tree, up, frame, child);
    if ((up->links & NODE_INDEX) != 0)
        return pair_up(tree, up, frame, child);
    set_only(up, frame, child);
    return true;
}

void children_remove(struct mcct *tree, uint32_t parent, uint32_t child) {
    struct mcct_node *up = node_at(&tree->pool, parent);
    if (up->links & NODE_WIDE)
        table_remove(tree, up, child);
    else if (up->links & NODE_BROOD)
        brood_remove(tree, up, child);
    else
        set_link(up, 0);
}

uint32_t children_first(const struct mcct *tree, const struct mcct_node *parent) {
    if (parent->links & NODE_WIDE)
        return table_from(family_of(tree, parent), 0);
    if (parent->links & NODE_BROOD)
        return brood_of(tree, parent)->node[0];
    return parent->links & NODE_INDEX;
}

uint32_t children_after(const struct mcct *tree, const struct mcct_node *parent, uint32_t child) {
    if (parent->links & NODE_WIDE) {
        const struct mcct_family *family = family_of(tree, parent);
        uint32_t frame = node_at(&tree->pool, child)->frame;
        return table_from(family, (size_t)(table_find(tree, family, frame) - family->slots) + 1);
    }
    if (!(parent->links & NODE_BROOD))
        return 0;
    unsigned i;
    const struct mcct_brood *brood = locate(tree, parent, child, &i);
    if (i + 1 < BROOD_ENTRIES && brood->node[i + 1] != 0)
        return brood->node[i + 1];
    return brood->next != 0 ? brood_at(&tree->pool, brood->next)->node[0] : 0;
}

void children_free(struct mcct *tree) {
    for (uint32_t cell = tree->families; cell != 0; cell = family_at(&tree->pool, cell)->next)
        free(family_at(&tree->pool, cell)->slots);
    tree->families = 0;
}
