/*
 * prune.c - fewer contexts, same weight: what goes is added up in "[~]" under what stays.
 */
#include <stdlib.h>

#include "daemon/report/copy.h"
#include "daemon/report/memory.h"
#include "daemon/report/profile.h"
#include "daemon/report/tree_view.h"

/* A new profile of the nodes with keep[node]; a kept node's parent is kept. */
static struct profile *condense(const struct profile *from, const bool *keep) {
    struct profile *to = copy_begin(from);
    uint32_t *node = memory_new(from->n_nodes, sizeof(*node), "contexts");
    uint32_t *place = memory_new(from->n_locations, sizeof(*place), "locations");
    uint32_t pruned = profile_add_pseudo(to, PROFILE_PRUNED);

    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *source = &from->nodes[i];
        uint32_t parent = node[source->parent];

        if (source->parent == 0) {
            node[i] = parent = profile_root(to, source->process);
        } else if (keep[i]) {
            if (place[source->location] == 0)
                place[source->location] = copy_location(to, from, source->location);
            node[i] =
                profile_add_node(to, parent, place[source->location], source->count, source->error);
            to->nodes[node[i]].inlined = source->inlined;
            continue;
        } else {
            node[i] = parent; /* what comes below counts for the same frame */
        }
        if (source->count > 0 || source->error > 0)
            profile_add_node(to, parent, pruned, source->count, source->error);
    }
    free(node);
    free(place);
    return to;
}

/* By node. The caller frees it. */
static bool *choose(const struct profile *profile, double phi) {
    uint64_t *inclusive = tree_inclusive(profile);
    double least = phi * (double)profile_total(profile);
    bool *keep = memory_new(profile->n_nodes, sizeof(*keep), "contexts");

    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];

        keep[i] = node->parent == 0 || (keep[node->parent] && (double)inclusive[i] >= least &&
                                        !profile_is_pruned(profile, node->location));
    }
    free(inclusive);
    return keep;
}

struct profile *profile_prune(const struct profile *profile, double phi) {
    bool *keep = choose(profile, phi);
    struct profile *pruned = condense(profile, keep);

    free(keep);
    return pruned;
}

/* All that would go is in PROFILE_PRUNED frames already. */
static bool all_stays(const struct profile *profile, const bool *keep) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        bool is_root = node->parent == 0, is_empty = node->count == 0 && node->error == 0;

        if (is_root
                ? !is_empty
                : !keep[i] && !(keep[node->parent] && profile_is_pruned(profile, node->location)))
            return false;
    }
    return true;
}

struct profile *profile_prune_own(struct profile *profile, double phi) {
    bool *keep = choose(profile, phi);
    struct profile *pruned = profile;

    if (!all_stays(profile, keep)) {
        pruned = condense(profile, keep);
        profile_free(profile);
    }
    free(keep);
    return pruned;
}

/* Largest own weight first; equal ones in the order of the profile. */
static int compare_count(const void *a, const void *b, void *arg) {
    const struct profile_node *nodes = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    if (nodes[i].count != nodes[k].count)
        return nodes[i].count > nodes[k].count ? -1 : 1;
    return i < k ? -1 : i > k;
}

struct profile *profile_keep(const struct profile *profile, uint32_t n) {
    bool *keep = memory_new(profile->n_nodes, sizeof(*keep), "contexts");
    uint32_t *order = memory_new(profile->n_nodes, sizeof(*order), "contexts");
    uint32_t n_order = 0;
    struct profile *kept;

    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count > 0 && !profile_is_pruned(profile, profile->nodes[i].location))
            order[n_order++] = i;
    qsort_r(order, n_order, sizeof(*order), compare_count, profile->nodes);
    for (uint32_t k = 0; k < n_order && k < n; k++)
        for (uint32_t i = order[k]; i != 0 && !keep[i]; i = profile->nodes[i].parent)
            keep[i] = true;
    kept = condense(profile, keep);
    free(order);
    free(keep);
    return kept;
}
