/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_order.c - functions and contexts, those that changed most first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/diff_judge.h"
#include "common/profile/tree_view.h"

/* Negative: x comes first. */
static int compare_weights(const struct diff_weight *x, const struct diff_weight *y) {
    bool any_x = x->before + x->after > 0, any_y = y->before + y->after > 0;
    double change_x = fabs(diff_change(x)), change_y = fabs(diff_change(y));
    if (x->beyond != y->beyond)
        return x->beyond ? -1 : 1;
    if (any_x != any_y)
        return any_x ? -1 : 1;
    if (change_x != change_y)
        return change_x > change_y ? -1 : 1;
    if (x->after != y->after)
        return x->after > y->after ? -1 : 1;
    return 0;
}

/* ---- contexts ---- */

static int compare_contexts(const void *a, const void *b, void *arg) {
    const struct diff *diff = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = compare_weights(&diff->self[i], &diff->self[k]);
    if (order == 0)
        order = strcmp(tree_name(diff->profile, i), tree_name(diff->profile, k));
    return order != 0 ? order : i < k ? -1 : i > k;
}

uint32_t *diff_contexts(const struct diff *diff, uint32_t *n) {
    uint32_t *contexts = memory_new(diff->profile->n_nodes, sizeof *contexts, "contexts");
    *n = 0;
    for (uint32_t i = 1; i < diff->profile->n_nodes; i++)
        if (diff_is_context(diff, i) && diff->self[i].before + diff->self[i].after > 0)
            contexts[(*n)++] = i;
    qsort_r(contexts, *n, sizeof *contexts, compare_contexts, (void *)diff);
    return contexts;
}

/* ---- functions ---- */

/* What the contexts of each location have, on one side. What is in a "[~]" has a function mostly:
 * self weights of functions are known but for what has none. A "[~]" may hold a part of several
 * contexts, so that inclusive bounds together are no more than all that is there. */
struct sums {
    struct diff_bounds *self, *inclusive;
};

static void add(struct diff_bounds *sum, const struct diff_bounds *more, uint64_t most) {
    sum->count += more->count;
    sum->error += more->error;
    sum->more = more->more < most - sum->more ? sum->more + more->more : most;
}

static struct sums add_up(const struct diff *diff, int side) {
    const struct profile *profile = diff->profile;
    const struct diff_join *join = diff->join;
    const struct diff_hidden *hidden = &join->hidden[side];
    struct sums sums = {.self = memory_new(profile->n_locations, sizeof *sums.self, "functions")};
    sums.inclusive = memory_new(profile->n_locations, sizeof *sums.inclusive, "functions");
    bool *outermost = bounds_outermost(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;
        if (profile->nodes[i].parent == 0 || profile_is_pruned(profile, location))
            continue;
        sums.self[location].effect = join->effect[side][location].self;
        sums.inclusive[location].effect = join->effect[side][location].inclusive;
        add(&sums.self[location], &join->own[side][i], hidden->own);
        if (outermost[i])
            add(&sums.inclusive[location], &join->below[side][i], hidden->all);
    }
    free(outermost);
    return sums;
}

static int compare_functions(const void *a, const void *b, void *arg) {
    const struct diff_function *x = a, *y = b;
    const struct diff *diff = arg;
    const struct profile *profile = diff->profile;
    int order = compare_weights(&x->self, &y->self);
    if (order == 0)
        order = compare_weights(&x->inclusive, &y->inclusive);
    if (order == 0)
        order = strcmp(profile->functions[profile->locations[x->location].lines[0].function].name,
                       profile->functions[profile->locations[y->location].lines[0].function].name);
    return order != 0 ? order : x->location < y->location ? -1 : x->location > y->location;
}

static void judge(const struct diff *diff, struct diff_function *function,
                  const struct sums sums[DIFF_SIDES]) {
    const struct diff_bounds self[DIFF_SIDES] = {sums[DIFF_BEFORE].self[function->location],
                                                 sums[DIFF_AFTER].self[function->location]};
    const struct diff_bounds inclusive[DIFF_SIDES] = {
        sums[DIFF_BEFORE].inclusive[function->location],
        sums[DIFF_AFTER].inclusive[function->location]};
    function->self = diff_judge(diff, 0, self);
    function->inclusive = diff_judge(diff, 0, inclusive);
}

struct diff_function *diff_functions(const struct diff *diff, uint32_t *n) {
    uint32_t n_locations = diff->profile->n_locations;
    struct diff_function *functions = memory_new(n_locations, sizeof *functions, "functions");
    struct sums sums[DIFF_SIDES];

    for (int side = 0; side < DIFF_SIDES; side++)
        sums[side] = add_up(diff, side);
    *n = 0;
    for (uint32_t i = 1; i < n_locations; i++) {
        struct diff_function *function = &functions[*n];
        function->location = i;
        judge(diff, function, sums);
        *n += function->inclusive.before + function->inclusive.after > 0;
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        free(sums[side].self);
        free(sums[side].inclusive);
    }
    qsort_r(functions, *n, sizeof *functions, compare_functions, (void *)diff);
    return functions;
}
