/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_effects.c - from the root on, which function of each path is the lightest.
 */
#include "common/profile/diff_effects.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/tree_view.h"

/* A function on the path of a context; effect 0: none is known. */
struct lightest {
    uint64_t weight;
    float effect;
};

/* What functions weigh on that side, by location. */
struct weights {
    uint64_t *self, *inclusive;
};

static struct weights weigh(const struct diff_join *join, int side,
                            const struct diff_tally *below) {
    const struct profile *profile = join->profile;
    struct weights weights = {memory_new(profile->n_locations, sizeof(uint64_t), "functions"),
                              memory_new(profile->n_locations, sizeof(uint64_t), "functions")};
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;
        weights.self[location] += join->tally[side][i].count;
        if (!tree_recurs(profile, i))
            weights.inclusive[location] += below[i].count;
    }
    return weights;
}

static struct lightest lighter(struct lightest one, uint64_t weight, float effect) {
    if (!(effect > 0) || (one.effect > 0 && one.weight <= weight))
        return one;
    return (struct lightest){weight, effect};
}

/* What one sample of a function with the effect 1 stands for. */
static double step(const struct diff_join *join, int side) {
    return chance_step(&join->all[side].chance, 0, 1);
}

/* Of a function that one side has not met only the other one knows how it is drawn. */
static struct diff_effect effect_of(const struct diff_join *join, int side, uint32_t location) {
    int other = side == DIFF_BEFORE ? DIFF_AFTER : DIFF_BEFORE;
    struct diff_effect its = join->effect[side][location], there = join->effect[other][location];
    double here = step(join, side), scale = here > 0 ? step(join, other) / here : 0;
    return (struct diff_effect){its.self > 0 ? its.self : there.self * (float)scale,
                                its.inclusive > 0 ? its.inclusive : there.inclusive * (float)scale};
}

/* Parents stand before their children. */
static void find(struct diff_effect *effects, const struct diff_join *join, int side,
                 const struct weights *weights) {
    const struct profile *profile = join->profile;
    struct lightest *path = memory_new(profile->n_nodes, sizeof *path, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;
        struct diff_effect its = effect_of(join, side, location);
        path[i] =
            lighter(path[profile->nodes[i].parent], weights->inclusive[location], its.inclusive);
        struct lightest self = lighter(path[i], weights->self[location], its.self);
        effects[i] = (struct diff_effect){self.effect, path[i].effect};
    }
    free(path);
}

struct diff_effect *diff_effects(const struct diff_join *join, int side,
                                 const struct diff_tally *below) {
    const struct profile *profile = join->profile;
    struct diff_effect *effects = memory_new(profile->n_nodes, sizeof *effects, "contexts");
    if (join->all[side].chance.drawn_alone) {
        struct weights weights = weigh(join, side, below);
        find(effects, join, side, &weights);
        free(weights.self);
        free(weights.inclusive);
        return effects;
    }
    /* What samples of time vary by follows from how long a function is at work each time. */
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        effects[i] = join->effect[side][profile->nodes[i].location];
    return effects;
}
