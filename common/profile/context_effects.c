/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * context_effects.c - from the root on, which function of each path is the lightest.
 */
#include "common/profile/context_effects.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"

/* A function on the path of a context; effect 0: none is known. */
struct lightest {
    uint64_t weight;
    float effect;
};

/* What functions weigh, by location. */
struct weights {
    uint64_t *self, *inclusive;
};

struct effects *function_effects(const struct profile *profile) {
    struct effects *effects = memory_new(profile->n_locations, sizeof *effects, "functions");
    for (uint32_t i = 1; i < profile->n_locations; i++)
        effects[i] =
            (struct effects){profile->locations[i].self_effect, profile->locations[i].effect};
    return effects;
}

static struct weights weigh(const struct profile *profile, const uint64_t *self,
                            const uint64_t *inclusive) {
    struct weights weights = {memory_new(profile->n_locations, sizeof(uint64_t), "functions"),
                              memory_new(profile->n_locations, sizeof(uint64_t), "functions")};
    bool *outermost = bounds_outermost(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;
        weights.self[location] += self[i];
        weights.inclusive[location] += outermost[i] ? inclusive[i] : 0;
    }
    free(outermost);
    return weights;
}

static struct lightest lighter(struct lightest one, uint64_t weight, float effect) {
    if (!(effect > 0) || (one.effect > 0 && one.weight <= weight))
        return one;
    return (struct lightest){weight, effect};
}

/* Parents stand before their children. */
static void find(struct effects *effects, const struct profile *profile,
                 const struct weights *weights, const struct effects *function) {
    struct lightest *path = memory_new(profile->n_nodes, sizeof *path, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location, parent = profile->nodes[i].parent;
        path[i] = lighter(path[parent], weights->inclusive[location], function[location].inclusive);
        struct lightest self = lighter(path[i], weights->self[location], function[location].self);
        effects[i] = (struct effects){self.effect, path[i].effect};
    }
    free(path);
}

struct effects *context_effects(const struct profile *profile, const uint64_t *self,
                                const uint64_t *inclusive, const struct effects *function,
                                bool drawn_alone) {
    struct effects *effects = memory_new(profile->n_nodes, sizeof *effects, "contexts");
    if (drawn_alone) {
        struct weights weights = weigh(profile, self, inclusive);
        find(effects, profile, &weights, function);
        free(weights.self);
        free(weights.inclusive);
        return effects;
    }
    /* What samples of time vary by follows from how long a function is at work each time. */
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        effects[i] = function[profile->nodes[i].location];
    return effects;
}
