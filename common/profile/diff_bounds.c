/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_bounds.c - what each context has for certain on either side, and what it may have beyond.
 *
 * All weights of a profile add up to N. A count is certain; what a context may have beyond it
 * stands in a "[~]" frame below one of its callers: there its frames are not known, but mostly its
 * function is (kept caller > [~] > function). So a context has at most what such frames of its
 * callers hold, and its self weight no more than what the whole profile holds there of its function
 * and of functions that are not known.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/diff_join.h"

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static bool *find_hidden_nodes(const struct profile *profile) {
    bool *is_hidden = memory_new(profile->n_nodes, sizeof *is_hidden, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        is_hidden[i] = profile->nodes[i].parent != 0 &&
                       (is_hidden[profile->nodes[i].parent] ||
                        profile_is_pruned(profile, profile->nodes[i].location));
    return is_hidden;
}

/* A root itself is no context: what it has may be anything below it. */
static void add_up_hidden(struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    struct diff_hidden *hidden = &join->hidden[side];
    hidden->leaf = memory_new(profile->n_locations, sizeof *hidden->leaf, "functions");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        uint64_t count = join->tally[side][i].count;
        if (node->parent != 0 && !join->is_hidden[i])
            continue;
        hidden->all += count;
        if (node->parent == 0 || profile_is_pruned(profile, node->location))
            hidden->own += count;
        else
            hidden->leaf[node->location] += count;
    }
}

/* By node: what is hidden below its callers. */
static uint64_t *hidden_above(const struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    uint64_t *above = memory_new(profile->n_nodes, sizeof *above, "contexts");
    uint64_t *held = memory_new(profile->n_nodes, sizeof *held, "contexts");
    uint32_t *keeper = memory_new(profile->n_nodes, sizeof *keeper, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        keeper[i] = join->is_hidden[i] && join->is_hidden[parent] ? keeper[parent] : parent;
        if (parent == 0)
            held[i] += join->tally[side][i].count;
        else if (join->is_hidden[i])
            held[keeper[i]] += join->tally[side][i].count;
    }
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        above[i] = parent != 0 ? above[parent] + held[parent] : 0;
    }
    free(held);
    free(keeper);
    return above;
}

/* Of all contexts below, too. */
static struct diff_tally *add_below(const struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    struct diff_tally *sum = memory_new(profile->n_nodes, sizeof *sum, "contexts");
    memcpy(sum, join->tally[side], profile->n_nodes * sizeof *sum);
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        sum[profile->nodes[i].parent].count += sum[i].count;
        sum[profile->nodes[i].parent].error += sum[i].error;
    }
    return sum;
}

/* By node. */
static struct effects *effects_of(const struct diff_join *join, int side,
                                  const struct diff_tally *below) {
    uint32_t n = join->profile->n_nodes;
    uint64_t *self = memory_new(n, sizeof *self, "contexts");
    uint64_t *inclusive = memory_new(n, sizeof *inclusive, "contexts");
    for (uint32_t i = 1; i < n; i++) {
        self[i] = join->tally[side][i].count;
        inclusive[i] = below[i].count;
    }
    struct effects *effects = context_effects(join->profile, self, inclusive, join->effect[side],
                                              join->all[side].chance.drawn_alone);
    free(self);
    free(inclusive);
    return effects;
}

/* `capped`: what weights may be off by either way, as they reached the largest number. */
static struct diff_bounds bounds(const struct diff_tally *tally, uint64_t more, uint64_t capped,
                                 float effect) {
    return (struct diff_bounds){
        .count = tally->count,
        .effect = effect,
        .error = smaller(tally->count, capped),
        .more = larger(more, tally->error) + capped,
    };
}

static void find_side(struct diff_join *join, int side) {
    const struct profile *profile = join->profile;
    const struct diff_hidden *hidden = &join->hidden[side];
    uint32_t n = profile->n_nodes;
    add_up_hidden(join, side);
    join->own[side] = memory_new(n, sizeof *join->own[side], "contexts");
    join->below[side] = memory_new(n, sizeof *join->below[side], "contexts");
    struct diff_tally *below = add_below(join, side);
    struct effects *effects = effects_of(join, side, below);
    uint64_t *above = hidden_above(join, side);
    for (uint32_t i = 1; i < n; i++) {
        const struct profile_node *node = &profile->nodes[i];
        uint64_t capped = join->group[side][node->process].capped;
        uint64_t own = smaller(above[i], hidden->own + hidden->leaf[node->location]);
        join->own[side][i] = bounds(&join->tally[side][i], own, capped, effects[i].self);
        join->below[side][i] = bounds(&below[i], above[i], capped, effects[i].inclusive);
    }
    free(effects);
    free(below);
    free(above);
}

void diff_find_bounds(struct diff_join *join) {
    join->is_hidden = find_hidden_nodes(join->profile);
    for (int side = 0; side < DIFF_SIDES; side++)
        find_side(join, side);
}
