/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * forest.c - random trees, and how a summary forgets.
 */
#include "tests/report/forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/tree_view.h"

uint64_t forest_random(uint64_t *seed, uint64_t n) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (*seed >> 11) % n;
}

void forest_grow(struct forest *forest, uint64_t *seed, uint64_t most) {
    memset(forest, 0, sizeof *forest);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++) {
        uint64_t top = forest_random(seed, most) + 1;
        forest->parent[i] = (uint32_t)forest_random(seed, i);
        forest->weight[i] = forest_random(seed, 3) == 0 ? 0 : forest_random(seed, top) + 1;
    }
}

uint64_t forest_total(const struct forest *forest) {
    return forest_inclusive(forest, 0);
}

uint64_t forest_inclusive(const struct forest *forest, uint32_t context) {
    uint64_t sum[FOREST_CONTEXTS];
    memcpy(sum, forest->weight, sizeof sum);
    for (uint32_t i = FOREST_CONTEXTS - 1; i > 0; i--)
        sum[forest->parent[i]] += sum[i];
    return sum[context];
}

enum fate { KEPT, PRUNED, MISSING };

/* Leaves of what is kept go, so that callers of what is kept stay. */
static void decide(const struct forest *forest, const struct forest_view *viewed, uint64_t *seed,
                   enum fate *fate) {
    bool needed[FOREST_CONTEXTS] = {false};

    for (uint32_t i = FOREST_CONTEXTS - 1; i > 0; i--) {
        uint64_t dice = forest_random(seed, 100);
        fate[i] = needed[i]                                 ? KEPT
                  : dice < viewed->pruned                   ? PRUNED
                  : dice < viewed->pruned + viewed->missing ? MISSING
                                                            : KEPT;
        if (fate[i] == KEPT)
            needed[forest->parent[i]] = true;
    }
}

static uint32_t location_of(struct profile *profile, uint32_t module, uint32_t context) {
    uint32_t location =
        profile_add_location(profile, module, 0x1000 + 16 * (uint64_t)context, true);
    struct profile_line line;
    char name[16];
    snprintf(name, sizeof name, "f%u", (unsigned)context);
    line = (struct profile_line){.function = profile_add_function(profile, name, name, "", 0)};
    profile_set_lines(profile, location, &line, 1);
    return location;
}

static uint32_t node_of(struct profile *profile, uint32_t module, const struct forest *forest,
                        uint32_t context) {
    uint32_t path[FOREST_CONTEXTS], depth = 0, node = profile_root(profile, 1);
    for (uint32_t i = context; i != 0; i = forest->parent[i])
        path[depth++] = i;
    while (depth-- > 0)
        node = profile_add_node(profile, node, location_of(profile, module, path[depth]), 0, 0);
    return node;
}

static void add(struct profile *profile, uint32_t node, uint64_t count, uint64_t error) {
    profile->nodes[node].count += count;
    profile->nodes[node].error += error;
    profile->nodes[node].counter_error += error;
}

/* Any context that is kept may have, for all that its counter knows, the weight of one that is not.
 */
static void give_away(struct profile *profile, uint32_t module, const struct forest *forest,
                      const enum fate *fate, uint32_t context, uint64_t *seed) {
    uint32_t to = 0;
    while (to == 0 || fate[to] != KEPT)
        to = (uint32_t)forest_random(seed, FOREST_CONTEXTS);
    add(profile, node_of(profile, module, forest, to), 0, forest->weight[context]);
}

struct profile *forest_profile(const struct forest *forest, const struct forest_view *viewed,
                               uint64_t *seed) {
    struct profile *profile = profile_new();
    enum fate fate[FOREST_CONTEXTS] = {KEPT};
    uint32_t module, pruned;
    profile->type = profile_string(profile, "calls");
    profile->unit = profile_string(profile, "count");
    profile_add_process(profile, &(struct profile_process){.exe = viewed->exe,
                                                           .command = profile_basename(viewed->exe),
                                                           .collector = viewed->collector,
                                                           .runs = 1,
                                                           .pid = 7,
                                                           .total = forest_total(forest)});
    module = profile_add_module(profile, viewed->exe, "c0ffee");
    pruned = profile_add_pseudo(profile, PROFILE_PRUNED);
    decide(forest, viewed, seed, fate);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++) {
        uint64_t weight = forest->weight[i];
        uint32_t at = i;
        if (fate[i] == KEPT && weight > 0)
            add(profile, node_of(profile, module, forest, i), weight, 0);
        while (at != 0 && fate[at] != KEPT)
            at = forest->parent[at];
        if (fate[i] == KEPT || weight == 0)
            continue;
        at = profile_add_node(profile, node_of(profile, module, forest, at), pruned, 0, 0);
        if (fate[i] == MISSING) {
            at = profile_add_node(profile, at, location_of(profile, module, i), 0, 0);
            give_away(profile, module, forest, fate, i, seed);
        }
        add(profile, at, weight, 0);
    }
    return profile;
}

uint32_t forest_context(const struct profile *profile, uint32_t node) {
    const char *name = tree_name(profile, node);
    uint32_t parent = profile->nodes[node].parent;
    if (parent == 0 || name[0] != 'f' ||
        profile_is_pruned(profile, profile->nodes[parent].location))
        return 0;
    return (uint32_t)strtoul(name + 1, NULL, 10);
}

uint64_t forest_hidden(const struct forest *forest, const struct profile *profile,
                       uint32_t context) {
    uint64_t hidden = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        uint32_t pruned = profile_is_pruned(profile, node->location) ? i : node->parent;
        if (!profile_is_pruned(profile, profile->nodes[pruned].location))
            continue;
        for (uint32_t at = context; at != 0; at = forest->parent[at])
            if (forest_context(profile, profile->nodes[pruned].parent) == forest->parent[at]) {
                hidden += node->count;
                break;
            }
    }
    return hidden;
}
