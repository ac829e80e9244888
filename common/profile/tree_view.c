/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_view.c - inclusive weights and sorted children, by counting; parents come before children in
 * a profile, so one backward pass adds up.
 */
#include "common/profile/tree_view.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"

uint64_t *tree_inclusive(const struct profile *profile) {
    uint64_t *inclusive = memory_new(profile->n_nodes, sizeof *inclusive, "weights");
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        inclusive[i] += profile->nodes[i].count;
        if (profile->nodes[i].parent != 0)
            inclusive[profile->nodes[i].parent] += inclusive[i];
    }
    return inclusive;
}

uint64_t *tree_upper(const struct profile *profile, const uint64_t *inclusive) {
    uint64_t *upper;
    if (!profile->bounded)
        return bounds_upper(profile, inclusive);
    upper = memory_new(profile->n_nodes, sizeof *upper, "weights");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        upper[i] = inclusive[i] + profile->nodes[i].outside;
    return upper;
}

const char *tree_name(const struct profile *profile, uint32_t node) {
    const struct profile_node *at = &profile->nodes[node];
    const struct profile_location *place = &profile->locations[at->location];
    if (at->parent == 0)
        return profile->processes[at->process].command;
    return place->n_lines > 0 ? profile->functions[place->lines[0].function].name : "";
}

struct order {
    const struct profile *profile;
    const uint64_t *inclusive;
};

/* Heaviest first; equal ones by name, so that reports of equal profiles are equal. */
static int compare(const void *a, const void *b, void *arg) {
    const struct order *order = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int by_name;
    if (order->inclusive[i] != order->inclusive[k])
        return order->inclusive[i] > order->inclusive[k] ? -1 : 1;
    by_name = strcmp(tree_name(order->profile, i), tree_name(order->profile, k));
    if (by_name != 0)
        return by_name;
    return i < k ? -1 : i > k;
}

void tree_view_make(struct tree_view *view, const struct profile *profile) {
    uint32_t n = profile->n_nodes;
    struct order order = {.profile = profile};
    uint32_t *fill;
    view->inclusive = tree_inclusive(profile);
    view->upper = tree_upper(profile, view->inclusive);
    view->child = memory_new(n, sizeof *view->child, "a tree");
    view->first = memory_new((size_t)n + 1, sizeof *view->first, "a tree");
    for (uint32_t i = 1; i < n; i++)
        view->first[profile->nodes[i].parent + 1]++;
    for (uint32_t i = 0; i < n; i++)
        view->first[i + 1] += view->first[i];

    fill = memory_new(n, sizeof *fill, "a tree");
    memcpy(fill, view->first, n * sizeof *fill);
    for (uint32_t i = 1; i < n; i++)
        view->child[fill[profile->nodes[i].parent]++] = i;
    free(fill);

    order.inclusive = view->inclusive;
    for (uint32_t i = 0; i < n; i++)
        if (view->first[i + 1] - view->first[i] > 1) /* most have one child, or none */
            qsort_r(view->child + view->first[i], view->first[i + 1] - view->first[i],
                    sizeof *view->child, compare, &order);
}

void tree_view_free(struct tree_view *view) {
    free(view->inclusive);
    free(view->upper);
    free(view->child);
    free(view->first);
}
