/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nodes.h - single nodes of a tree, for tests. One that is packed becomes one of nodes first.
 */
#ifndef HCCT_TESTS_NODES_H
#define HCCT_TESTS_NODES_H

#include "common/tree/children.h"
#include "common/tree/packed.h"

/* Child of `node` with that frame, 0 when there is none. */
static inline uint32_t node_child(const struct mcct *tree, uint32_t node, uint32_t frame) {
    packed_end((struct mcct *)tree);
    return children_find(tree, node_at(&tree->pool, node), frame);
}

/* What is in it, but for its depth. */
static inline void node_view(const struct mcct *tree, uint32_t node, struct mcct_view *view) {
    packed_end((struct mcct *)tree);
    const struct mcct_node *n = node_at(&tree->pool, node);
    *view = (struct mcct_view){
        .parent = n->parent,
        .frame = n->frame,
        .count = n->count,
        .error = n->error,
        .monitored = n->links & NODE_MONITORED,
    };
}

#endif
