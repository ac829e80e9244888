/*
 * mcct.c - the monitored calling context tree: cursors, credit, and Algorithm 1 (pruning) of the
 * article that mcct.h names.
 *
 * Departures: several cursors share a tree, each keeps its node; and a node that was only passed
 * through goes when the cursor leaves it, because no eviction would ever come to it. Every removal
 * pays for itself by the creation of the node, so pruning is constant amortised time.
 */
#include "common/tree/mcct.h"

#include <stdlib.h>

#include "common/base/seeded_hash.h"
#include "common/tree/children.h"
#include "common/tree/packed.h"
#include "common/tree/path_hash.h"

/* ---- life of a tree ---- */

static uint32_t capacity_of(double epsilon) {
    if (!(epsilon > 1.0 / NODE_INDEX))
        return NODE_INDEX;
    double inverse = 1.0 / epsilon * (1.0 - 1e-12); /* 1 / 2e-5 is to be 50,000, not one more */
    uint32_t whole = (uint32_t)inverse;
    return whole < inverse ? whole + 1 : whole;
}

struct mcct *mcct_new(const struct mcct_params *params) {
    struct mcct *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return NULL;
    tree->kind = params->summary != NULL ? params->summary : summary_kinds[0];
    tree->capacity = capacity_of(params->epsilon);
    tree->budget = (struct budget){.used = sizeof *tree, .max = params->max_bytes};
    tree->cursors.next = tree->cursors.prev = &tree->cursors;
    tree->hash_factor = seeded_hash_seed[0] | 1;
    tree->silent = tree->kind->gain == NULL ? NODE_MONITORED : 0;
    node_pool_init(&tree->pool, &tree->budget, tree->kind->side_bytes, tree->kind->side_later);
    tree->nodes = 1;
    if (node_pool_take(&tree->pool) == MCCT_ROOT)
        tree->summary = tree->kind->create(tree, params);
    if (tree->summary == NULL) {
        node_pool_free(&tree->pool);
        free(tree);
        return NULL;
    }
    return tree;
}

void mcct_free(struct mcct *tree) {
    if (tree == NULL)
        return;
    tree->kind->destroy(tree->summary);
    packed_free(tree->packed);
    children_free(tree);
    residual_free(tree);
    node_pool_free(&tree->pool);
    free(tree);
}

/* ---- pruning ---- */

/* Whether a cursor rests on a node that nothing else keeps. Clears a mark that is out of date. */
static bool has_cursor(struct mcct *tree, uint32_t node) {
    if (tree->active != NULL && tree->active->node == node)
        return true;
    struct mcct_node *n = node_at(&tree->pool, node);
    if (n->links == 0)
        return false;
    for (const struct mcct_cursor *c = tree->cursors.next; c != &tree->cursors; c = c->next)
        if (c->node == node)
            return true;
    n->links &= ~NODE_RESTED;
    return false;
}

static bool is_kept(struct mcct *tree, uint32_t node) {
    return (node_at(&tree->pool, node)->links & ~NODE_RESTED) != 0 || node == MCCT_ROOT ||
           has_cursor(tree, node);
}

/* Gives its parent. */
static uint32_t remove_node(struct mcct *tree, uint32_t node, uint32_t *lifted) {
    uint32_t parent = node_at(&tree->pool, node)->parent;
    if (residual_any(&tree->residuals))
        residual_lift(tree, node, lifted);
    children_remove(tree, parent, node);
    node_pool_give(&tree->pool, node);
    tree->nodes--;
    return parent;
}

/* Algorithm 1, from a node upwards. */
void tree_prune(struct mcct *tree, uint32_t node) {
    uint32_t lifted = 0;
    while (!is_kept(tree, node))
        node = remove_node(tree, node, &lifted);
    if (lifted != 0)
        residual_put_down(tree, node, lifted);
}

void tree_refuse(struct mcct *tree, uint32_t node, uint64_t weight) {
    const struct mcct_node *n = node_at(&tree->pool, node);
    residual_add(tree, node == MCCT_ROOT ? MCCT_ROOT : n->parent, n->frame, weight);
}

/* What a counter is certain of. */
static uint64_t certain(const struct mcct *tree, uint32_t node) {
    const struct mcct_node *n = node_at(&tree->pool, node);
    return n->links & NODE_MONITORED ? n->count - n->error : 0;
}

/* The summary has seen the node, which was not monitored. */
static void refuse_rest(struct mcct *tree, uint32_t node, uint64_t weight) {
    tree->updated = 0;
    uint64_t taken = certain(tree, node);
    if (taken < weight)
        tree_refuse(tree, node, weight - taken);
}

bool tree_adopt(struct mcct *tree, uint32_t node, uint64_t count, uint64_t error) {
    tree->updated = node;
    bool adopted = tree->kind->adopt(tree->summary, node, count, error);
    if (adopted)
        refuse_rest(tree, node, count - error);
    tree->updated = 0;
    return adopted;
}

void tree_forget(struct mcct *tree, uint32_t node) {
    if (node != tree->updated)
        tree_refuse(tree, node, certain(tree, node));
    tree_release(tree, node);
}

void tree_release(struct mcct *tree, uint32_t node) {
    struct mcct_node *n = node_at(&tree->pool, node);
    n->links &= ~NODE_MONITORED;
    n->count = n->error = 0;
    tree_prune(tree, node);
}

/* ---- cursors ---- */

static inline void go(struct mcct_cursor *cursor, uint32_t node) {
    cursor->node = node;
    cursor->here = node_at(&cursor->tree->pool, node);
}

static inline void go_down(struct mcct_cursor *cursor, uint32_t child) {
    uint64_t depth = ++cursor->depth;
    cursor->path[depth % MCCT_PATH] = child;
    if (hcct_unlikely(depth - cursor->known == MCCT_PATH))
        cursor->known++;
    go(cursor, child);
}

/* To the parent. */
static void go_up(struct mcct_cursor *cursor) {
    uint32_t parent = cursor->here->parent;
    cursor->depth--;
    if (cursor->known > cursor->depth) {
        cursor->known = cursor->depth;
        cursor->path[cursor->depth % MCCT_PATH] = parent;
    }
    go(cursor, parent);
}

__attribute__((noinline)) void tree_activate(struct mcct *tree, struct mcct_cursor *cursor) {
    if (tree->active != NULL)
        tree->active->here->links |= NODE_RESTED;
    tree->active = cursor;
}

static inline struct mcct *tree_of(struct mcct_cursor *cursor) {
    struct mcct *tree = cursor->tree;
    if (hcct_unlikely(tree->active != cursor))
        tree_activate(tree, cursor);
    return tree;
}

void mcct_cursor_open(struct mcct *tree, struct mcct_cursor *cursor) {
    *cursor =
        (struct mcct_cursor){.tree = tree, .next = &tree->cursors, .prev = tree->cursors.prev};
    cursor->prev->next = cursor->next->prev = cursor;
    cursor->path[0] = MCCT_ROOT;
    go(cursor, MCCT_ROOT);
}

void mcct_cursor_close(struct mcct_cursor *cursor) {
    struct mcct *tree = cursor->tree;
    cursor->prev->next = cursor->next;
    cursor->next->prev = cursor->prev;
    if (tree->active == cursor)
        tree->active = NULL;
    tree_prune(tree, cursor->node);
    *cursor = (struct mcct_cursor){0};
}

/* A new child, 0 when there is no memory for it. `listed`: as children_add() wants it. */
static uint32_t try_new_child(struct mcct *tree, uint32_t parent, uint32_t frame, uint32_t listed) {
    uint32_t child = node_pool_take(&tree->pool);
    if (child == 0)
        return 0;
    struct mcct_node *n = node_at(&tree->pool, child);
    n->parent = parent;
    n->frame = frame;
    if (!children_add(tree, parent, child, listed)) {
        node_pool_give(&tree->pool, child);
        return 0;
    }
    if (hcct_unlikely(tree->has_paths))
        *path_hash_at(tree, child) = path_hash_below(*path_hash_at(tree, parent), frame);
    tree->nodes++;
    return child;
}

uint32_t tree_new_child(struct mcct *tree, uint32_t parent, uint32_t frame, uint32_t listed) {
    uint32_t child;
    do
        child = try_new_child(tree, parent, frame, listed);
    while (hcct_unlikely(child == 0) && tree->kind->shrink != NULL &&
           tree->kind->shrink(tree->summary));
    return child;
}

static __attribute__((noinline)) void push_slowly(struct mcct_cursor *cursor, uint32_t frame) {
    struct mcct *tree = cursor->tree;
    if (cursor->missing != 0) {
        cursor->missing++;
        return;
    }
    uint32_t listed, child = children_recall(tree, cursor->here, frame, &listed);
    if (child == 0)
        child = tree_new_child(tree, cursor->node, frame, listed);
    if (child == 0)
        cursor->missing = 1;
    else
        go_down(cursor, child);
}

/* Inline, so that a call is one straight run of code. */
static inline void push(struct mcct_cursor *cursor, uint32_t frame) {
    uint32_t links = cursor->here->links, child = links & NODE_INDEX;
    if (hcct_likely(child != 0 && !(links & NODE_WIDE) && cursor->missing == 0)) {
        if (hcct_likely(node_at(&cursor->tree->pool, child)->frame == frame)) {
            go_down(cursor, child); /* the child that was used last */
            return;
        }
    }
    push_slowly(cursor, frame);
}

void mcct_push(struct mcct_cursor *cursor, uint32_t frame) {
    (void)tree_of(cursor);
    push(cursor, frame);
}

bool mcct_repeat(struct mcct_cursor *cursor, uint64_t n) {
    if (cursor->node == MCCT_ROOT && cursor->missing == 0)
        return false;
    uint32_t frame = cursor->here->frame;
    for (; n > 0 && cursor->missing == 0; n--)
        mcct_push(cursor, frame);
    cursor->missing += n;
    return true;
}

/* Whether the node goes when the cursor leaves it. */
static inline bool is_passing(const struct mcct_cursor *cursor) {
    return (cursor->here->links & ~NODE_RESTED) == 0;
}

static __attribute__((noinline)) uint64_t pop_slowly(struct mcct_cursor *cursor, uint64_t n) {
    struct mcct *tree = cursor->tree;
    uint64_t left = n;
    uint64_t undone = left < cursor->missing ? left : cursor->missing;
    uint32_t was = cursor->node;
    bool passing = is_passing(cursor);
    cursor->missing -= undone;
    left -= undone;
    for (; left != 0 && cursor->node != MCCT_ROOT; left--)
        go_up(cursor);
    if (passing && cursor->node != was) /* nodes above one that stays do so, too */
        tree_prune(tree, was);
    return n - left;
}

/* Above a node that stays, all nodes do: the cursor goes straight to the one that it returns to. */
uint64_t mcct_pop(struct mcct_cursor *cursor, uint64_t n) {
    (void)tree_of(cursor);
    if (hcct_unlikely(cursor->missing != 0 || n > cursor->depth - cursor->known ||
                      is_passing(cursor)))
        return pop_slowly(cursor, n);
    cursor->depth -= n;
    go(cursor, cursor->path[cursor->depth % MCCT_PATH]);
    return n;
}

/* What is not just an addition to the node's count. */
static __attribute__((noinline)) void credit_slowly(struct mcct *tree, uint32_t node,
                                                    uint64_t weight) {
    struct mcct_node *n = node_at(&tree->pool, node);
    if (tree->packed != NULL) {
        tree->loose = true; /* or each such credit would unpack it anew */
        tree_unpack(tree);
        tree_credit(tree, node, weight);
        return;
    }
    if (!(n->links & NODE_MONITORED)) {
        tree->updated = node;
        tree->kind->update(tree->summary, node, weight);
        refuse_rest(tree, node, weight);
        return;
    }
    n->count = add_saturating(n->count, weight);
    tree->kind->gain(tree->summary, node);
}

static inline void credit_node(struct mcct *tree, uint32_t node, struct mcct_node *n,
                               uint64_t weight) {
    if (hcct_likely(n->links & tree->silent))
        n->count = add_saturating(n->count, weight);
    else
        credit_slowly(tree, node, weight);
}

void tree_credit(struct mcct *tree, uint32_t node, uint64_t weight) {
    credit_node(tree, node, node_at(&tree->pool, node), weight);
}

static inline void credit(struct mcct_cursor *cursor, uint64_t weight) {
    struct mcct *tree = cursor->tree;
    tree->total = add_saturating(tree->total, weight);
    tree->updates++;
    if (hcct_unlikely(cursor->missing != 0))
        tree->capped = add_saturating(tree->capped, weight);
    credit_node(tree, cursor->node, cursor->here, weight);
}

void mcct_credit(struct mcct_cursor *cursor, uint64_t weight) {
    (void)tree_of(cursor);
    credit(cursor, weight);
}

void mcct_call(struct mcct_cursor *cursor, uint32_t frame) {
    (void)tree_of(cursor);
    push(cursor, frame);
    /* the callee that was called last, which the next call compares first */
    __builtin_prefetch(node_at(&cursor->tree->pool, cursor->here->links & NODE_INDEX));
    credit(cursor, 1);
}

uint64_t mcct_depth(const struct mcct_cursor *cursor) {
    return cursor->depth + cursor->missing;
}

/* ---- what is in it ---- */

void tree_unpack(const struct mcct *tree) {
    if (tree->packed != NULL)
        packed_end((struct mcct *)tree);
}

void mcct_flush(struct mcct *tree) {
    if (tree->packed != NULL)
        packed_flush(tree);
}

void mcct_stats(const struct mcct *tree, struct mcct_stats *stats) {
    *stats = (struct mcct_stats){
        .total = tree->total,
        .updates = tree->updates,
        .nodes = tree->nodes,
        .monitored = tree->kind->monitored(tree->summary),
        .capacity = tree->kind->bounded ? tree->capacity : 0,
        .unseen = tree->kind->unseen(tree->summary),
        .bytes = tree->budget.used,
        .capped = tree->capped,
    };
    if (tree->packed != NULL)
        packed_stats(tree, stats);
}

uint32_t mcct_child(const struct mcct *tree, uint32_t node, uint32_t frame) {
    tree_unpack(tree);
    return children_find(tree, node_at(&tree->pool, node), frame);
}

void mcct_view(const struct mcct *tree, uint32_t node, struct mcct_view *view) {
    tree_unpack(tree);
    const struct mcct_node *n = node_at(&tree->pool, node);
    *view = (struct mcct_view){
        .parent = n->parent,
        .frame = n->frame,
        .count = n->count,
        .error = n->error,
        .monitored = n->links & NODE_MONITORED,
    };
}
