/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree.c - nodes and frames in arrays, found by identity.
 */
#include "client/top/tree.h"

#include <stdlib.h>

#include "common/base/memory.h"

void top_tree_begin(struct top_tree *tree, uint64_t seed) {
    *tree = (struct top_tree){0};
    tree->node = memory_grow(NULL, 0, &tree->room, sizeof *tree->node, "contexts");
    tree->node[0] = (struct top_node){.id = top_id_mix(seed, 1)};
    tree->n = 1;
    tree->frame = memory_grow(NULL, 0, &tree->frame_room, sizeof *tree->frame, "functions");
    tree->frame[0] =
        (struct top_frame){.id = 1, .name = "", .module = "", .file = "", .function = 1};
    tree->n_frames = 1;
}

void top_tree_free(struct top_tree *tree) {
    free(tree->node);
    free(tree->frame);
    top_ids_clear(&tree->nodes);
    top_ids_clear(&tree->frames);
    *tree = (struct top_tree){0};
}

uint32_t top_tree_frame(struct top_tree *tree, const struct top_frame *frame) {
    uint32_t number = top_ids_get(&tree->frames, frame->id);
    if (number != 0)
        return number;
    tree->frame =
        memory_grow(tree->frame, tree->n_frames, &tree->frame_room, sizeof *frame, "functions");
    number = tree->n_frames++;
    tree->frame[number] = *frame;
    top_ids_set(&tree->frames, frame->id, number);
    return number;
}

uint32_t top_tree_child(struct top_tree *tree, uint32_t parent, uint32_t frame) {
    uint64_t id = top_id_mix(tree->node[parent].id, tree->frame[frame].id);
    uint32_t number = top_ids_get(&tree->nodes, id);
    if (number != 0)
        return number;
    tree->node = memory_grow(tree->node, tree->n, &tree->room, sizeof *tree->node, "contexts");
    number = tree->n++;
    tree->node[number] = (struct top_node){.id = id, .frame = frame, .parent = parent};
    struct top_node *above = &tree->node[parent];
    if (above->first == 0)
        above->first = number;
    else
        tree->node[above->last].next = number;
    above->last = number;
    top_ids_set(&tree->nodes, id, number);
    return number;
}

void top_tree_sum(struct top_tree *tree) {
    for (uint32_t i = 0; i < tree->n; i++)
        for (int span = 0; span < TOP_SPANS; span++)
            tree->node[i].weight[span].inclusive = tree->node[i].weight[span].self;
    for (uint32_t i = tree->n - 1; i > 0; i--)
        for (int span = 0; span < TOP_SPANS; span++)
            tree->node[tree->node[i].parent].weight[span].inclusive +=
                tree->node[i].weight[span].inclusive;
}

uint32_t top_tree_next(const struct top_tree *tree, uint32_t node, uint32_t *leaves) {
    *leaves = 0;
    if (tree->node[node].first != 0)
        return tree->node[node].first;
    while (node != 0) {
        ++*leaves;
        if (tree->node[node].next != 0)
            return tree->node[node].next;
        node = tree->node[node].parent;
    }
    return 0;
}
