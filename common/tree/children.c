/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * children.c - a short list, or a table for a wide node.
 *
 * Up to LIST_MAX children are a list with the one used last in front: calls repeat, so the first
 * comparison nearly always hits. A node with more gets a table of 4-byte entries by hash of the
 * frame (linear probing, between 1/4 and 3/4 full, deletion by shifting back), so that a node of a
 * hundred thousand children costs a push no more than one of ten. Both take constant expected time
 * for every operation, whatever the stream: the hash is a multiplication by an odd random 64-bit
 * number (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem,
 * 1997), which nobody can choose frames against. The result of no query depends on that number.
 */
#include "common/tree/children.h"

#include <stdlib.h>

#define LIST_MAX   12u /* children in a list */
#define LIST_AGAIN 4u  /* a table with so few becomes a list again */
#define BITS_MIN   5u  /* of a table */
#define BITS_MAX   29u
#define TAG_SHIFT  29u

static uint64_t hash_of(const struct mcct *tree, uint32_t frame) {
    return frame * tree->hash_factor;
}

static uint32_t home_of(const struct mcct_family *family, uint64_t hash) {
    return (uint32_t)(hash >> (64 - family->bits));
}

/* Bits of the hash that the slot in the table does not use: they spare most reads of a node that
 * turns out to be another. */
static uint32_t tag_of(uint64_t hash) {
    return (uint32_t)(hash >> 16) << TAG_SHIFT;
}

static size_t table_bytes(uint32_t bits) {
    return sizeof(uint32_t) << bits;
}

static struct mcct_family *family_of(const struct mcct *tree, const struct mcct_node *parent) {
    return family_at(&tree->pool, parent->links & NODE_INDEX);
}

/* ---- the table of a wide node ---- */

/* Where the child with that frame is; the number of slots when it is not there. */
static uint32_t table_find(const struct mcct *tree, const struct mcct_family *family,
                           uint32_t frame) {
    uint64_t hash = hash_of(tree, frame);
    uint32_t mask = (1u << family->bits) - 1, tag = tag_of(hash);
    for (uint32_t at = home_of(family, hash);; at = (at + 1) & mask) {
        uint32_t slot = family->slots[at];
        if (slot == 0)
            return mask + 1;
        if ((slot & ~NODE_INDEX) == tag && node_at(&tree->pool, slot & NODE_INDEX)->frame == frame)
            return at;
    }
}

static void table_put(const struct mcct *tree, struct mcct_family *family, uint32_t child) {
    uint64_t hash = hash_of(tree, node_at(&tree->pool, child)->frame);
    uint32_t mask = (1u << family->bits) - 1, at = home_of(family, hash);
    while (family->slots[at] != 0)
        at = (at + 1) & mask;
    family->slots[at] = tag_of(hash) | child;
}

/* Moves the children into a table of that many bits. False: no memory, all is as before. */
static bool table_resize(struct mcct *tree, struct mcct_family *family, uint32_t bits) {
    if (bits > BITS_MAX || !budget_take(&tree->budget, table_bytes(bits)))
        return false;
    uint32_t *slots = calloc(1u << bits, sizeof *slots);
    if (slots == NULL) {
        budget_give(&tree->budget, table_bytes(bits));
        return false;
    }
    struct mcct_family old = *family;
    family->slots = slots;
    family->bits = bits;
    if (old.slots != NULL) {
        for (uint32_t i = 0; i < 1u << old.bits; i++)
            if (old.slots[i] != 0)
                table_put(tree, family, old.slots[i] & NODE_INDEX);
        free(old.slots);
        budget_give(&tree->budget, table_bytes(old.bits));
    }
    return true;
}

static bool table_add(struct mcct *tree, struct mcct_family *family, uint32_t child) {
    if (family->used + 1 > (3u << family->bits) / 4 &&
        !table_resize(tree, family, family->bits + 1))
        return false;
    table_put(tree, family, child);
    family->used++;
    return true;
}

/* Empties the slot, and moves back what only stands behind it because it was taken. */
static void table_clear(const struct mcct *tree, struct mcct_family *family, uint32_t hole) {
    uint32_t mask = (1u << family->bits) - 1;
    for (uint32_t at = (hole + 1) & mask; family->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t frame = node_at(&tree->pool, family->slots[at] & NODE_INDEX)->frame;
        uint32_t home = home_of(family, hash_of(tree, frame));
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            family->slots[hole] = family->slots[at];
            hole = at;
        }
    }
    family->slots[hole] = 0;
    family->used--;
}

static uint32_t table_from(const struct mcct_family *family, uint32_t at) {
    for (; at < 1u << family->bits; at++)
        if (family->slots[at] != 0)
            return family->slots[at] & NODE_INDEX;
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

static void set_link(struct mcct_node *parent, uint32_t link) {
    parent->links = (parent->links & (NODE_MONITORED | NODE_RESTED | NODE_HELD)) | link;
}

static bool widen(struct mcct *tree, struct mcct_node *parent) {
    uint32_t cell = node_pool_take(&tree->pool);
    if (cell == 0)
        return false;
    struct mcct_family *family = family_at(&tree->pool, cell);
    *family = (struct mcct_family){0};
    if (!table_resize(tree, family, BITS_MIN)) {
        node_pool_give(&tree->pool, cell);
        return false;
    }
    for (uint32_t c = parent->links & NODE_INDEX; c != 0; c = node_at(&tree->pool, c)->next) {
        table_put(tree, family, c);
        family->used++;
    }
    enlist(tree, cell);
    set_link(parent, NODE_WIDE | cell);
    return true;
}

static void narrow(struct mcct *tree, struct mcct_node *parent) {
    uint32_t cell = parent->links & NODE_INDEX, first = 0;
    struct mcct_family *family = family_at(&tree->pool, cell);
    for (uint32_t i = 0; i < 1u << family->bits; i++) {
        if (family->slots[i] == 0)
            continue;
        uint32_t child = family->slots[i] & NODE_INDEX;
        node_at(&tree->pool, child)->next = first;
        first = child;
    }
    delist(tree, family);
    budget_give(&tree->budget, table_bytes(family->bits));
    free(family->slots);
    node_pool_give(&tree->pool, cell);
    set_link(parent, first);
}

static void push_front(struct mcct *tree, struct mcct_node *parent, uint32_t child) {
    node_at(&tree->pool, child)->next = parent->links & NODE_INDEX;
    set_link(parent, child);
}

static void list_remove(struct mcct *tree, struct mcct_node *parent, uint32_t child) {
    uint32_t next = node_at(&tree->pool, child)->next, at = parent->links & NODE_INDEX;
    if (at == child) {
        set_link(parent, next);
        return;
    }
    while (node_at(&tree->pool, at)->next != child)
        at = node_at(&tree->pool, at)->next;
    node_at(&tree->pool, at)->next = next;
}

/* ---- either ---- */

static uint32_t find_wide(const struct mcct *tree, const struct mcct_node *parent, uint32_t frame) {
    const struct mcct_family *family = family_of(tree, parent);
    uint32_t at = table_find(tree, family, frame);
    return at >> family->bits != 0 ? 0 : family->slots[at] & NODE_INDEX;
}

uint32_t children_find(const struct mcct *tree, const struct mcct_node *parent, uint32_t frame) {
    if (parent->links & NODE_WIDE)
        return find_wide(tree, parent, frame);
    uint32_t child = parent->links & NODE_INDEX;
    while (child != 0 && node_at(&tree->pool, child)->frame != frame)
        child = node_at(&tree->pool, child)->next;
    return child;
}

uint32_t children_recall(const struct mcct *tree, struct mcct_node *parent, uint32_t frame,
                         uint32_t *listed) {
    *listed = 0;
    if (parent->links & NODE_WIDE)
        return find_wide(tree, parent, frame);
    struct mcct_node *before = NULL;
    for (uint32_t child = parent->links & NODE_INDEX; child != 0; ++*listed) {
        struct mcct_node *n = node_at(&tree->pool, child);
        if (n->frame == frame) {
            if (before != NULL) {
                before->next = n->next;
                n->next = parent->links & NODE_INDEX;
                set_link(parent, child);
            }
            return child;
        }
        before = n;
        child = n->next;
    }
    return 0;
}

bool children_add(struct mcct *tree, uint32_t parent, uint32_t child, uint32_t listed) {
    struct mcct_node *up = node_at(&tree->pool, parent);
    if (!(up->links & NODE_WIDE)) {
        if (listed < LIST_MAX) {
            push_front(tree, up, child);
            return true;
        }
        /* A list must not grow without limit just because memory is short. */
        if (!widen(tree, up))
            return false;
    }
    return table_add(tree, family_of(tree, up), child);
}

void children_remove(struct mcct *tree, uint32_t parent, uint32_t child) {
    struct mcct_node *up = node_at(&tree->pool, parent);
    if (!(up->links & NODE_WIDE)) {
        list_remove(tree, up, child);
        return;
    }
    struct mcct_family *family = family_of(tree, up);
    table_clear(tree, family, table_find(tree, family, node_at(&tree->pool, child)->frame));
    if (family->used <= LIST_AGAIN)
        narrow(tree, up);
    else if (family->bits > BITS_MIN && family->used < (1u << family->bits) / 4)
        (void)table_resize(tree, family, family->bits - 1); /* else it stays large: no harm */
}

uint32_t children_first(const struct mcct *tree, const struct mcct_node *parent) {
    if (parent->links & NODE_WIDE)
        return table_from(family_of(tree, parent), 0);
    return parent->links & NODE_INDEX;
}

uint32_t children_after(const struct mcct *tree, const struct mcct_node *parent, uint32_t child) {
    const struct mcct_node *n = node_at(&tree->pool, child);
    if (!(parent->links & NODE_WIDE))
        return n->next;
    const struct mcct_family *family = family_of(tree, parent);
    return table_from(family, table_find(tree, family, n->frame) + 1);
}

uint32_t children_next_node(const struct mcct *tree, uint32_t node) {
    uint32_t next = children_first(tree, node_at(&tree->pool, node));
    while (next == 0 && node != MCCT_ROOT) {
        uint32_t parent = node_at(&tree->pool, node)->parent;
        next = children_after(tree, node_at(&tree->pool, parent), node);
        node = parent;
    }
    return next;
}

void children_free(struct mcct *tree) {
    for (uint32_t cell = tree->families; cell != 0; cell = family_at(&tree->pool, cell)->next)
        free(family_at(&tree->pool, cell)->slots);
    tree->families = 0;
}
