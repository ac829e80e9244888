/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * prune.c - fewer contexts, same weights and bounds: what goes is added up in "[~]" under what
 * stays.
 */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/copy.h"
#include "common/profile/profile.h"
#include "common/profile/tree_view.h"

struct cut {
    const struct profile *from;
    struct profile *to;
    uint32_t *node;  /* its node of `to`, or of the deepest caller that stays */
    uint32_t *place; /* location of `from` -> of `to` */
    uint32_t pruned;
};

static uint32_t place_of(struct cut *cut, uint32_t location) {
    if (cut->place[location] == 0)
        cut->place[location] = copy_location(cut->to, cut->from, location);
    return cut->place[location];
}

static void add_kept(struct cut *cut, uint32_t i, uint64_t outside) {
    const struct profile_node *source = &cut->from->nodes[i];
    uint32_t parent = cut->node[source->parent];
    uint32_t copy =
        profile_add_node(cut->to, parent, place_of(cut, source->location), source->count, 0);
    struct profile_node *node = &cut->to->nodes[copy];
    node->error += source->error;
    node->counter_error += source->counter_error;
    node->inlined = source->inlined;
    node->outside += outside;
    cut->node[i] = copy;
}

/* Its weight goes to its innermost location in the caller's PROFILE_PRUNED frame, or to none. */
static void add_cut(struct cut *cut, uint32_t i, uint32_t caller) {
    const struct profile_node *source = &cut->from->nodes[i];
    uint32_t at;
    cut->node[i] = caller; /* what comes below counts for the same frame */
    if (source->count == 0)
        return;
    at = profile_add_node(cut->to, caller, cut->pruned, 0, 0);
    if (source->parent != 0 && !profile_is_pruned(cut->from, source->location))
        at = profile_add_node(cut->to, at, place_of(cut, source->location), 0, 0);
    cut->to->nodes[at].count += source->count;
}

static void carry_flat(struct cut *cut, const uint64_t *inclusive) {
    struct profile_flat *flat = bounds_flat(cut->from, inclusive), *pruned;
    bool *hidden;
    cut->to->flat = memory_new(cut->to->n_locations, sizeof *flat, "functions");
    for (uint32_t i = 1; i < cut->from->n_locations; i++)
        if (cut->place[i] != 0)
            cut->to->flat[cut->place[i]] = flat[i];
    free(flat);
    pruned = &cut->to->flat[cut->pruned];
    *pruned = (struct profile_flat){0}; /* all that is not shown now */
    hidden = profile_find_hidden(cut->to);
    for (uint32_t i = 1; i < cut->to->n_nodes; i++) {
        const struct profile_node *node = &cut->to->nodes[i];
        pruned->self += node->location == cut->pruned ? node->count : 0;
        pruned->inclusive += hidden[i] ? node->count : 0;
    }
    pruned->self_upper = pruned->self;
    pruned->upper = pruned->inclusive;
    free(hidden);
}

/* A new profile of the nodes with keep[node]; a kept node's parent is kept. */
static struct profile *condense(const struct profile *from, const bool *keep) {
    uint64_t *inclusive = tree_inclusive(from), *upper = tree_upper(from, inclusive);
    struct cut cut = {.from = from, .to = copy_begin(from)};
    cut.node = memory_new(from->n_nodes, sizeof *cut.node, "contexts");
    cut.place = memory_new(from->n_locations, sizeof *cut.place, "locations");
    cut.pruned = profile_add_pseudo(cut.to, PROFILE_PRUNED);
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *source = &from->nodes[i];
        if (source->parent == 0) {
            uint32_t root = profile_root(cut.to, source->process);
            cut.to->nodes[root].outside = upper[i] - inclusive[i];
            add_cut(&cut, i, root);
        } else if (keep[i]) {
            add_kept(&cut, i, upper[i] - inclusive[i]);
        } else {
            add_cut(&cut, i, cut.node[source->parent]);
        }
    }
    carry_flat(&cut, inclusive);
    cut.to->bounded = true;
    free(inclusive);
    free(upper);
    free(cut.node);
    free(cut.place);
    return cut.to;
}

/* By node. What stands in a PROFILE_PRUNED frame stays or goes with the caller. The caller frees
 * it. */
static bool *choose(const struct profile *profile, double phi) {
    uint64_t *inclusive = tree_inclusive(profile);
    double least = phi * (double)profile_total(profile);
    bool *keep = memory_new(profile->n_nodes, sizeof *keep, "contexts");
    bool *hidden = profile_find_hidden(profile);
    for (uint32_t i = profile->n_nodes; i-- > 1;) {
        const struct profile_node *node = &profile->nodes[i];
        double own = (double)node->count + (double)node->counter_error;
        keep[i] |= node->parent == 0 ||
                   (!hidden[i] && ((double)inclusive[i] >= least || (own > 0 && own >= least)));
        if (!hidden[i] && keep[i])
            keep[node->parent] = true;
    }
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        keep[i] |= hidden[i] && keep[profile->nodes[i].parent];
    free(hidden);
    free(inclusive);
    return keep;
}

/* There is nothing to cut. */
static bool all_stays(const struct profile *profile, const bool *keep) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->parent == 0 ? node->count > 0 : !keep[i])
            return false;
    }
    return true;
}

struct profile *profile_prune(const struct profile *profile, double phi) {
    bool *keep = choose(profile, phi);
    struct profile *pruned = condense(profile, keep);

    free(keep);
    return pruned;
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

/* Largest self weight first; equal ones in the order of the profile. */
static int compare_count(const void *a, const void *b, void *arg) {
    const struct profile_node *nodes = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (nodes[i].count != nodes[k].count)
        return nodes[i].count > nodes[k].count ? -1 : 1;
    return i < k ? -1 : i > k;
}

struct profile *profile_keep(const struct profile *profile, uint32_t n) {
    bool *keep = memory_new(profile->n_nodes, sizeof *keep, "contexts");
    uint32_t *order = memory_new(profile->n_nodes, sizeof *order, "contexts");
    bool *hidden = profile_find_hidden(profile);
    uint32_t n_order = 0;
    struct profile *kept;

    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count > 0 && !hidden[i])
            order[n_order++] = i;
    qsort_r(order, n_order, sizeof *order, compare_count, profile->nodes);
    for (uint32_t k = 0; k < n_order && k < n; k++)
        for (uint32_t i = order[k]; i != 0 && !keep[i]; i = profile->nodes[i].parent)
            keep[i] = true;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        keep[i] |= hidden[i] && keep[profile->nodes[i].parent];
    kept = condense(profile, keep);
    free(order);
    free(hidden);
    free(keep);
    return kept;
}
