/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_merge.c - callers before callees: the order in which the items were made.
 *
 * A node that an item stands for must not be removed before the items below it have been looked
 * for, whatever the summary evicts meanwhile: it is held, and what nothing else keeps goes at the
 * end. So a tree may have more nodes for this while, by one for each item at most.
 */
#include "common/tree/batch_merge.h"

#include <string.h>

#include "common/tree/children.h"
#include "common/tree/path_hash.h"

#define CHILD_AHEAD 3u /* items: far enough for memory to answer, and their callers are known */
#define HASH_AHEAD  12u

/* False: the summary wants to see every context. */
static bool hash_items(const struct mcct *tree, struct mcct_batch *batch) {
    if (!tree->has_paths)
        return false;
    for (uint32_t i = 0; i < batch->carried; i++)
        batch->hash[i] = *path_hash_at(tree, batch->node[i]);
    for (uint32_t i = batch->carried; i < batch->items; i++)
        batch->hash[i] =
            path_hash_below(batch->hash[batch_parent(batch, i)], batch_frame(batch, i));
    return true;
}

static void hold(struct mcct *tree, struct mcct_batch *batch, uint32_t item, uint32_t node) {
    node_at(&tree->pool, node)->links |= NODE_HELD;
    batch->node[item] = node;
}

/* The child that was used last is compared first. */
static void expect(const struct mcct *tree, const struct mcct_batch *batch, uint32_t item) {
    if (item >= batch->items)
        return;
    uint32_t parent = batch->node[batch_parent(batch, item)];
    if (parent != 0)
        __builtin_prefetch(node_at(&tree->pool, node_at(&tree->pool, parent)->links & NODE_INDEX));
}

static void find(struct mcct *tree, struct mcct_batch *batch, uint32_t item) {
    uint32_t parent = batch->node[batch_parent(batch, item)], listed;
    if (parent == 0)
        return; /* nor is what it calls */
    uint32_t node =
        children_recall(tree, node_at(&tree->pool, parent), batch_frame(batch, item), &listed);
    if (node != 0)
        hold(tree, batch, item, node);
}

/* A node for the item, whose parent has one. False: no memory. */
static bool make_one(struct mcct *tree, struct mcct_batch *batch, uint32_t item) {
    uint32_t parent = batch->node[batch_parent(batch, item)], listed;
    (void)children_recall(tree, node_at(&tree->pool, parent), batch_frame(batch, item), &listed);
    uint32_t node = tree_new_child(tree, parent, batch_frame(batch, item), listed);
    if (node == 0)
        return false;
    hold(tree, batch, item, node);
    return true;
}

/* Nodes for the item and all that lead to it. False: no memory; some may have been made. */
static bool make(struct mcct *tree, struct mcct_batch *batch, uint32_t item) {
    uint32_t n = 0;
    for (uint32_t at = item; batch->node[at] == 0; at = batch_parent(batch, at))
        batch->chain[n++] = at;
    while (n > 0)
        if (!make_one(tree, batch, batch->chain[--n]))
            return false;
    return true;
}

/* The node of the item, or of its nearest caller that has one. */
static uint32_t nearest(const struct mcct_batch *batch, uint32_t item) {
    while (batch->node[item] == 0)
        item = batch_parent(batch, item);
    return batch->node[item];
}

static void credit(struct mcct *tree, struct mcct_batch *batch, uint32_t item, bool hashed) {
    uint64_t weight = batch_weight(batch, item) * batch->cursor->each;
    tree->total = add_saturating(tree->total, weight);
    tree->updates += batch_weight(batch, item);
    bool there = batch->node[item] != 0;
    if (!there && hashed && tree->kind->refuse(tree->summary, batch->hash[item], weight)) {
        residual_add(&tree->residuals, nearest(batch, item), batch_frame(batch, item), weight);
        return;
    }
    /* where there is no memory, as a cursor does it that misses nodes */
    if (!there && !make(tree, batch, item))
        tree->capped = add_saturating(tree->capped, weight);
    tree_credit(tree, nearest(batch, item), weight);
}

/* Callees first, so that a caller that is kept only by them goes after them. */
static void release(struct mcct *tree, struct mcct_batch *batch) {
    for (uint32_t i = batch->items; i-- > 0;) {
        if (batch->node[i] == 0)
            continue;
        struct mcct_node *n = node_at(&tree->pool, batch->node[i]);
        n->links &= ~NODE_HELD;
        if ((n->links & ~NODE_RESTED) == 0)
            tree_prune(tree, batch->node[i]);
    }
}

void batch_merge(struct mcct_batch *batch) {
    struct mcct *tree = batch->cursor->tree;
    for (uint32_t i = 0; i < batch->carried; i++)
        hold(tree, batch, i, batch->node[i]);
    memset(batch->node + batch->carried, 0, (batch->items - batch->carried) * sizeof *batch->node);
    bool hashed = hash_items(tree, batch);
    for (uint32_t i = 1; i < batch->items; i++) {
        if (hashed && i + HASH_AHEAD < batch->items)
            tree->kind->expect(tree->summary, batch->hash[i + HASH_AHEAD]);
        expect(tree, batch, i + CHILD_AHEAD);
        if (batch->node[i] == 0)
            find(tree, batch, i);
        if (batch_weight(batch, i) > 0)
            credit(tree, batch, i, hashed);
    }
    release(tree, batch);
}
