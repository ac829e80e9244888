/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * path_hash.c - hashes for the nodes that are there already.
 */
#include "common/tree/path_hash.h"

#include "common/tree/children.h"

bool path_hash_begin(struct mcct *tree) {
    if (!node_pool_open_side(&tree->pool))
        return false;
    *path_hash_at(tree, MCCT_ROOT) = PATH_HASH_ROOT;
    for (uint32_t node = children_next_node(tree, MCCT_ROOT); node != 0;
         node = children_next_node(tree, node)) {
        const struct mcct_node *n = node_at(&tree->pool, node);
        *path_hash_at(tree, node) = path_hash_below(*path_hash_at(tree, n->parent), n->frame);
    }
    tree->has_paths = true;
    return true;
}
