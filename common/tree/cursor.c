/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cursor.c - cursors move through a tree, make the nodes that they come to, and credit them.
 */
#include "common/tree/mcct.h"

#include <stdlib.h>

#include "common/tree/batch.h"
#include "common/tree/children.h"
#include "common/tree/packed.h"
#include "common/tree/path_hash.h"
#include "common/tree/tree.h"

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
    if (cursor != NULL && cursor->waiting != NULL)
        mcct_batch_wait_no_more(cursor);
}

static inline struct mcct *tree_of(struct mcct_cursor *cursor) {
    struct mcct *tree = cursor->tree;
    if (hcct_unlikely(tree->active != cursor))
        tree_activate(tree, cursor);
    return tree;
}

void mcct_cursor_open(struct mcct *tree, struct mcct_cursor *cursor) {
    *cursor = (struct mcct_cursor){
        .tree = tree, .each = 1, .next = &tree->cursors, .prev = tree->cursors.prev};
    cursor->prev->next = cursor->next->prev = cursor;
    cursor->path[0] = MCCT_ROOT;
    go(cursor, MCCT_ROOT);
}

void mcct_cursor_close(struct mcct_cursor *cursor) {
    struct mcct *tree = cursor->tree;
    if (cursor->waiting != NULL)
        mcct_batch_wait_no_more(cursor);
    cursor->prev->next = cursor->next;
    cursor->next->prev = cursor->prev;
    if (tree->active == cursor)
        tree->active = NULL;
    tree_prune(tree, cursor->node);
    *cursor = (struct mcct_cursor){0};
}

/* ---- moves ---- */

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
    (void)tree_of(cursor);
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
        packed_end(tree);
        tree_credit(tree, node, weight);
        return;
    }
    if (!(n->links & NODE_MONITORED)) {
        tree_update(tree, node, weight);
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

static inline void credit(struct mcct_cursor *cursor, uint64_t times) {
    struct mcct *tree = cursor->tree;
    uint64_t weight = multiply_saturating(times, cursor->each);
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

void mcct_count_as(struct mcct_cursor *cursor, uint64_t each) {
    if (cursor->waiting != NULL && cursor->each != each)
        mcct_batch_wait_no_more(cursor);
    cursor->each = each;
}

void mcct_call(struct mcct_cursor *cursor, uint32_t frame) {
    (void)tree_of(cursor);
    push(cursor, frame);
    /* the callee that was called last, which the next call compares first */
    __builtin_prefetch(node_at(&cursor->tree->pool, cursor->here->links & NODE_INDEX));
    credit(cursor, 1);
}

uint64_t mcct_depth(const struct mcct_cursor *cursor) {
    if (hcct_unlikely(cursor->waiting != NULL))
        tree_end_waiting(cursor->tree);
    return cursor->depth + cursor->missing;
}

/* ---- cursors that follow others ---- */

/* Frames of the nodes between the root and `node`, outermost first. NULL: no memory. */
static uint32_t *path_to(const struct mcct *tree, uint32_t node, uint64_t depth) {
    uint32_t *frames = malloc((size_t)depth * sizeof *frames);
    for (uint64_t i = depth; i-- > 0 && frames != NULL;) {
        const struct mcct_node *n = node_at(&tree->pool, node);
        frames[i] = n->frame;
        node = n->parent;
    }
    return frames;
}

void mcct_cursor_open_at(struct mcct *tree, struct mcct_cursor *cursor,
                         const struct mcct_cursor *at) {
    uint64_t depth = mcct_depth(at) - at->missing;
    mcct_cursor_open(tree, cursor);
    uint32_t *frames = depth > 0 ? path_to(at->tree, at->node, depth) : NULL;
    for (uint64_t i = 0; i < depth && frames != NULL; i++)
        mcct_push(cursor, frames[i]);
    cursor->missing += frames != NULL ? at->missing : depth + at->missing;
    free(frames);
}

void mcct_close_cursors(struct mcct *tree) {
    while (tree->cursors.next != &tree->cursors)
        mcct_cursor_close(tree->cursors.next);
}
