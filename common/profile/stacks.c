/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stacks.c - a search for the lightest context that there is room for.
 */
#include "common/profile/stacks.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/tree_view.h"

struct tree {
    const struct profile *profile;
    uint64_t *inclusive;
    uint32_t *depth;
    uint64_t *cut_at; /* by node: the last `least` with which something below it is cut */
};

/* Frames of the paths of all contexts that weigh so much, with their callees, and of what is cut
 * below each. */
static uint64_t count_frames(struct tree *tree, uint64_t least) {
    uint64_t frames = 0;
    for (uint32_t i = 1; i < tree->profile->n_nodes; i++) {
        const struct profile_node *node = &tree->profile->nodes[i];
        if (tree->inclusive[i] >= least) {
            frames += node->count > 0 || node->error > 0 ? tree->depth[i] : 0;
        } else if (tree->inclusive[node->parent] >= least && tree->cut_at[node->parent] != least) {
            tree->cut_at[node->parent] = least;
            frames += tree->depth[node->parent] + 2; /* PROFILE_PRUNED and a function */
        }
    }
    return frames;
}

static void tree_free(struct tree *tree) {
    free(tree->inclusive);
    free(tree->depth);
    free(tree->cut_at);
}

double stacks_phi(const struct profile *profile) {
    struct tree tree = {
        .profile = profile,
        .inclusive = tree_inclusive(profile),
        .depth = memory_new(profile->n_nodes, sizeof *tree.depth, "contexts"),
        .cut_at = memory_new(profile->n_nodes, sizeof *tree.cut_at, "contexts"),
    };
    uint64_t total = profile_total(profile), low = 0, high = total;

    for (uint32_t i = 1; i < profile->n_nodes; i++)
        tree.depth[i] = tree.depth[profile->nodes[i].parent] + 1;
    tree.inclusive[0] = total;
    if (count_frames(&tree, 0) <= STACKS_FRAMES_MAX)
        high = 0;
    while (low < high) { /* half of the room is for several functions in one place */
        uint64_t middle = low + (high - low) / 2;

        if (count_frames(&tree, middle) <= STACKS_FRAMES_MAX / 2)
            high = middle;
        else
            low = middle + 1;
    }
    tree_free(&tree);
    return total > 0 ? (double)high / (double)total : 0;
}
