/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * prune.c - Algorithm 1 (pruning) of the article that mcct.h names, and what the summary says of a
 * node.
 *
 * Departures: several cursors share a tree, each keeps its node; and a node that was only passed
 * through goes when the cursor leaves it, because no eviction would ever come to it. Every removal
 * pays for itself by the creation of the node, so pruning is constant amortised time.
 */
#include "common/tree/children.h"
#include "common/tree/tree.h"

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
        residual_lift(&tree->residuals, node, lifted);
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
        residual_put_down(&tree->residuals, node, lifted);
}

/* ---- what is not monitored, or no more ---- */

void tree_refuse(struct mcct *tree, uint32_t node, uint64_t weight) {
    const struct mcct_node *n = node_at(&tree->pool, node);
    residual_add(&tree->residuals, node == MCCT_ROOT ? MCCT_ROOT : n->parent, n->frame, weight);
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

void tree_update(struct mcct *tree, uint32_t node, uint64_t weight) {
    tree->updated = node;
    tree->kind->update(tree->summary, node, weight);
    refuse_rest(tree, node, weight);
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
