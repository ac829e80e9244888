/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shape.c - bottom-up trees and flat lists.
 */
#include "client/top/shape.h"

#include <stdlib.h>

#include "common/base/memory.h"

#define INVERTED_SEED  0x696e766572746564u
#define FUNCTIONS_SEED 0x66756e6374696f6eu

/* A bottom-up tree has a path for each context; together they have at most about so many nodes. */
#define INVERTED_NODES   1000000u
#define INVERTED_DEEPEST 200u
#define INVERTED_LEAST   16u

static bool has_weight(const struct top_node *node) {
    return node->weight[TOP_TOTAL].self > 0 || node->weight[TOP_RECENT].self > 0;
}

static void add_weight(struct top_node *node, const struct top_node *context) {
    for (int span = 0; span < TOP_SPANS; span++) {
        node->weight[span].inclusive += context->weight[span].self;
        node->weight[span].error += context->weight[span].error;
        node->weight[span].beyond += context->weight[span].error;
    }
}

static uint32_t deepest(const struct top_tree *contexts) {
    uint32_t n = 1;
    for (uint32_t i = 1; i < contexts->n; i++)
        n += has_weight(&contexts->node[i]);
    uint32_t depth = INVERTED_NODES / n;
    if (depth > INVERTED_DEEPEST)
        depth = INVERTED_DEEPEST;
    return depth > INVERTED_LEAST ? depth : INVERTED_LEAST;
}

static void invert(struct top_tree *tree, const struct top_tree *contexts) {
    uint32_t depth = deepest(contexts);
    for (uint32_t i = 1; i < contexts->n; i++) {
        if (!has_weight(&contexts->node[i]))
            continue;
        uint32_t at = 0, from = i;
        for (uint32_t level = 0; from != 0 && level < depth; level++) {
            const struct top_frame *frame = &contexts->frame[contexts->node[from].frame];
            at = top_tree_child(tree, at, top_tree_frame(tree, frame));
            add_weight(&tree->node[at], &contexts->node[i]);
            from = contexts->node[from].parent;
        }
        add_weight(&tree->node[0], &contexts->node[i]);
    }
    for (uint32_t i = tree->node[0].first; i != 0; i = tree->node[i].next)
        for (int span = 0; span < TOP_SPANS; span++)
            tree->node[i].weight[span].self = tree->node[i].weight[span].inclusive;
}

/* The frame that stands for all frames of a function. */
static struct top_frame whole_function(const struct top_frame *frame) {
    struct top_frame whole = *frame;
    whole.id = frame->function;
    whole.line = 0;
    whole.inlined = false;
    return whole;
}

static void flatten(struct top_tree *tree, const struct top_tree *contexts) {
    uint32_t *node_of = memory_new(contexts->n, sizeof *node_of, "functions"); /* of the context */
    uint32_t *on_path = memory_new((size_t)contexts->n + 1, sizeof *on_path, "functions");
    uint32_t leaves, next;
    for (uint32_t at = top_tree_next(contexts, 0, &leaves); at != 0; at = next) {
        const struct top_node *context = &contexts->node[at];
        struct top_frame frame = whole_function(&contexts->frame[context->frame]);
        uint32_t node = top_tree_child(tree, 0, top_tree_frame(tree, &frame));
        bool outermost = on_path[node]++ == 0;
        node_of[at] = node;
        for (int span = 0; span < TOP_SPANS; span++) {
            struct top_weight *weight = &tree->node[node].weight[span];
            weight->self += context->weight[span].self;
            weight->error += context->weight[span].error;
            weight->inclusive += outermost ? context->weight[span].inclusive : 0;
            weight->beyond += outermost ? context->weight[span].beyond : 0;
            tree->node[0].weight[span].inclusive += context->weight[span].self;
        }
        next = top_tree_next(contexts, at, &leaves);
        for (uint32_t up = at; leaves > 0; leaves--, up = contexts->node[up].parent)
            if (up != 0)
                on_path[node_of[up]]--;
    }
    free(node_of);
    free(on_path);
}

void top_shape_make(struct top_tree *tree, enum top_shape shape, const struct top_tree *contexts) {
    top_tree_begin(tree, shape == TOP_INVERTED ? INVERTED_SEED : FUNCTIONS_SEED);
    if (shape == TOP_INVERTED)
        invert(tree, contexts);
    else
        flatten(tree, contexts);
}
