/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk.c - through all nodes in an order that depends on nothing but the contexts.
 */
#include "common/tree/mcct.h"

#include <stdlib.h>

#include "common/base/array_grow.h"
#include "common/tree/children.h"
#include "common/tree/packed.h"
#include "common/tree/tree.h"

/* What is still to be visited, the next on top. */
struct stack {
    struct pending {
        uint32_t frame, node, depth;
    } * item;
    size_t n, room;
};

static bool push(struct stack *stack, struct pending next) {
    if (!array_grow(&stack->item, stack->n, &stack->room, sizeof *stack->item))
        return false;
    stack->item[stack->n++] = next;
    return true;
}

static int larger_frame_first(const void *a, const void *b) {
    uint32_t fa = ((const struct pending *)a)->frame, fb = ((const struct pending *)b)->frame;
    return (fa < fb) - (fa > fb);
}

static bool push_children(const struct mcct *tree, struct stack *stack, uint32_t node,
                          uint32_t depth) {
    const struct mcct_node *parent = node_at(&tree->pool, node);
    size_t first = stack->n;
    uint32_t child = children_first(tree, parent);
    for (; child != 0; child = children_after(tree, parent, child))
        if (!push(stack, (struct pending){node_at(&tree->pool, child)->frame, child, depth}))
            return false;
    if (stack->n - first > 1)
        qsort(stack->item + first, stack->n - first, sizeof *stack->item, larger_frame_first);
    return true;
}

static struct mcct_view view_of(const struct mcct_node *n, uint32_t depth) {
    return (struct mcct_view){
        .depth = depth,
        .parent = n->parent,
        .frame = n->frame,
        .count = n->count,
        .error = n->error,
        .monitored = n->links & NODE_MONITORED,
    };
}

bool mcct_walk(const struct mcct *tree, mcct_visit *visit, void *arg) {
    tree_end_waiting(tree);
    if (tree->packed != NULL)
        return packed_walk(tree, visit, arg);
    struct stack stack = {0};
    bool whole = push(&stack, (struct pending){.node = MCCT_ROOT});
    while (whole && stack.n > 0) {
        struct pending at = stack.item[--stack.n];
        const struct mcct_view view = view_of(node_at(&tree->pool, at.node), at.depth);
        if (!visit(arg, at.node, &view))
            break;
        whole = push_children(tree, &stack, at.node, at.depth + 1);
    }
    free(stack.item);
    return whole;
}

bool mcct_residuals(const struct mcct *tree, uint32_t node, mcct_residual_visit *visit, void *arg) {
    tree_end_waiting(tree);
    if (tree->packed != NULL)
        return packed_residuals(tree, node, visit, arg);
    return residual_visit(&tree->residuals, node, visit, arg);
}
