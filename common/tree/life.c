/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * life.c - a tree from its beginning to its end, and what it is made of.
 */
#include <stdlib.h>

#include "common/base/seeded_hash.h"
#include "common/tree/children.h"
#include "common/tree/packed.h"
#include "common/tree/tree.h"

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
    residual_init(&tree->residuals, &tree->budget, &tree->pool, tree->capacity);
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
    tree_end_waiting(tree);
    tree->kind->destroy(tree->summary);
    packed_free(tree->packed);
    children_free(tree);
    residual_free(&tree->residuals);
    node_pool_free(&tree->pool);
    free(tree);
}

void mcct_flush(struct mcct *tree) {
    tree_end_waiting(tree);
    if (tree->packed != NULL)
        packed_flush(tree);
}

void mcct_stats(const struct mcct *tree, struct mcct_stats *stats) {
    tree_end_waiting(tree);
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
