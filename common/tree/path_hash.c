/*
 * path_hash.c - hashes for the nodes that are there already.
 */
#include "common/tree/path_hash.h"

#include "common/tree/children.h"

/* The next node in preorder, 0 after the last. */
static uint32_t next_node(const struct mcct *tree, uint32_t node) {
    uint32_t next = children_first(tree, node_at(&tree->pool, node));
    while (next == 0 && node != MCCT_ROOT) {
        uint32_t parent = node_at(&tree->pool, node)->parent;
        next = children_after(tree, node_at(&tree->pool, parent), node);
        node = parent;
    }
    return next;
}

bool path_hash_begin(struct mcct *tree) {
    if (!node_pool_open_side(&tree->pool))
        return false;
    *path_hash_at(tree, MCCT_ROOT) = PATH_HASH_ROOT;
    for (uint32_t node = next_node(tree, MCCT_ROOT); node != 0; node = next_node(tree, node)) {
        const struct mcct_node *n = node_at(&tree->pool, node);
        *path_hash_at(tree, node) = path_hash_below(*path_hash_at(tree, n->parent), n->frame);
    }
    tree->has_paths = true;
    return true;
}
