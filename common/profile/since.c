/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * since.c - both profiles in one forest, subtracted there, and the growth as a new profile.
 *
 * merge_profiles() adds one part after the other, so the contexts and processes of the sum of `end`
 * and `start` begin with those of `end` alone: what `start` has of each is the difference of the
 * two.
 */
#include "common/profile/since.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/copy.h"
#include "common/profile/merge.h"
#include "common/profile/process_fields.h"

struct subtraction {
    const struct profile *end, *both;
    int64_t *growth; /* by node of `both` */
    bool *hidden;
    uint32_t *first, *next; /* by node: its first child, its next sibling; 0: none */
};

/* ---- what moved ---- */

static void link_children(struct subtraction *s) {
    for (uint32_t i = s->both->n_nodes - 1; i > 0; i--) {
        uint32_t parent = s->both->nodes[i].parent;
        s->next[i] = s->first[parent];
        s->first[parent] = i;
    }
}

static uint32_t pruned_below(const struct subtraction *s, uint32_t node) {
    for (uint32_t child = s->first[node]; child != 0; child = s->next[child])
        if (profile_is_pruned(s->both, s->both->nodes[child].location))
            return child;
    return 0;
}

/* Are both of one function, or not known to be of two? Families of bounds.h are such frames. */
static bool same_function(const struct profile *profile, uint32_t one, uint32_t other) {
    const struct profile_location *a = &profile->locations[one], *b = &profile->locations[other];
    const char *x =
        a->n_lines > 0 ? profile->functions[a->lines[a->n_lines - 1].function].name : "";
    const char *y =
        b->n_lines > 0 ? profile->functions[b->lines[b->n_lines - 1].function].name : "";
    return a->module == b->module &&
           (x == y || (profile_is_place_name(x) && profile_is_place_name(y)));
}

static int64_t take(struct subtraction *s, uint32_t node, int64_t need) {
    int64_t taken = s->growth[node] < need ? s->growth[node] : need;
    if (taken <= 0)
        return 0;
    s->growth[node] -= taken;
    return taken;
}

/* Who may have got the weight: the same place or function below a PROFILE_PRUNED frame, that frame
 * itself, or any function below it. */
enum heir { HEIR_PLACE, HEIR_FUNCTION, HEIR_FRAME, HEIR_ANY, HEIRS };

static int64_t take_from(struct subtraction *s, uint32_t pruned, uint32_t location, enum heir heir,
                         int64_t need) {
    int64_t left = need;
    if (heir == HEIR_FRAME)
        return take(s, pruned, need);
    for (uint32_t child = s->first[pruned]; child != 0 && left > 0; child = s->next[child]) {
        uint32_t place = s->both->nodes[child].location;
        if (heir == HEIR_ANY || (heir == HEIR_PLACE && place == location) ||
            (heir == HEIR_FUNCTION && same_function(s->both, place, location)))
            left -= take(s, child, left);
    }
    return need - left;
}

/* The nearest caller whose frames are known. */
static uint32_t known_caller(const struct subtraction *s, uint32_t node) {
    uint32_t at = s->both->nodes[node].parent;
    while (s->hidden[at])
        at = s->both->nodes[at].parent;
    return at;
}

/* The same of a caller, whose frames stand beside each other for its places in the code. */
static int64_t take_from_caller(struct subtraction *s, uint32_t caller, uint32_t location,
                                enum heir heir, int64_t need) {
    const struct profile_node *nodes = s->both->nodes;
    uint32_t parent = nodes[caller].parent;
    int64_t left = need;

    for (uint32_t at = parent != 0 ? s->first[parent] : caller; at != 0 && left > 0;
         at = parent != 0 ? s->next[at] : 0) {
        uint32_t pruned =
            at == caller || same_function(s->both, nodes[at].location, nodes[caller].location)
                ? pruned_below(s, at)
                : 0;
        if (pruned != 0)
            left -= take_from(s, pruned, location, heir, left);
    }
    return need - left;
}

/* What a context lost is taken from PROFILE_PRUNED frames of its callers, the nearest first. */
static uint64_t take_back(struct subtraction *s, uint32_t node) {
    uint32_t caller = known_caller(s, node), location = s->both->nodes[node].location;
    int64_t left = -s->growth[node];
    s->growth[node] = 0;
    for (enum heir heir = 0; heir < HEIRS && left > 0; heir++)
        for (uint32_t at = caller; at != 0 && left > 0; at = s->both->nodes[at].parent)
            left -= take_from_caller(s, at, location, heir, left);
    return (uint64_t)left;
}

static uint64_t subtract_nodes(struct subtraction *s) {
    const struct profile *end = s->end, *both = s->both;
    uint64_t excess = 0;
    for (uint32_t i = 1; i < both->n_nodes; i++) {
        uint64_t now = i < end->n_nodes ? end->nodes[i].count : 0;
        if (both->nodes[i].process >= end->n_processes)
            continue; /* a process that is not there any more has nothing new */
        s->growth[i] = (int64_t)now - (int64_t)(both->nodes[i].count - now);
    }
    for (uint32_t i = both->n_nodes - 1; i > 0; i--)
        if (s->growth[i] < 0)
            excess += take_back(s, i);
    return excess;
}

/* ---- processes ---- */

static uint64_t grown(uint64_t end, uint64_t both) {
    uint64_t start = both > end ? both - end : 0;
    return end > start ? end - start : 0;
}

/* Of what only grows; sums of samples' weights, too, which have no difference of their own. */
static void subtract_process(struct profile_process *end, const struct profile_process *both) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        if (field->over == FIELD_GROWS)
            process_field_set_number(
                end, field,
                grown(process_field_number(end, field), process_field_number(both, field)));
    end->drawn = grown(end->drawn, both->drawn);
    end->drawn_squares = grown(end->drawn_squares, both->drawn_squares);
    end->varied_total = grown(end->varied_total, both->varied_total);
    for (int i = 0; i < SHARE_CLASSES; i++) {
        end->varied[i] = grown(end->varied[i], both->varied[i]);
        end->independent[i] = grown(end->independent[i], both->independent[i]);
    }
}

static void subtract_processes(struct profile *to, const struct subtraction *s) {
    for (uint32_t i = 1; i < to->n_processes; i++) {
        subtract_process(&to->processes[i], &s->both->processes[i]);
        to->processes[i].total = 0;
    }
    for (uint32_t i = 1; i < to->n_nodes; i++)
        to->processes[to->nodes[i].process].total += to->nodes[i].count;
}

/* ---- the new profile ---- */

static bool *find_used(const struct subtraction *s) {
    bool *used = memory_new(s->both->n_nodes, sizeof *used, "contexts");
    for (uint32_t i = s->both->n_nodes - 1; i > 0; i--) {
        used[i] |= s->growth[i] > 0;
        used[s->both->nodes[i].parent] |= used[i];
    }
    return used;
}

static void copy_nodes(struct profile *to, const struct subtraction *s) {
    const struct profile *both = s->both;
    uint32_t *node = memory_new(both->n_nodes, sizeof *node, "contexts");
    uint32_t *location = memory_new(both->n_locations, sizeof *location, "locations");
    bool *used = find_used(s);
    for (uint32_t i = 1; i < both->n_nodes; i++) {
        const struct profile_node *from = &both->nodes[i];
        if (from->process >= to->n_processes)
            continue;
        if (from->parent == 0) {
            node[i] = profile_root(to, from->process);
            to->nodes[node[i]].count = used[i] ? (uint64_t)s->growth[i] : 0;
            continue;
        }
        if (!used[i])
            continue;
        if (location[from->location] == 0)
            location[from->location] = copy_location(to, both, from->location);
        node[i] = profile_add_node(to, node[from->parent], location[from->location],
                                   (uint64_t)s->growth[i], 0);
    }
    free(node);
    free(location);
    free(used);
}

static void set_times(struct profile *to, const struct profile *start, const struct profile *end) {
    uint64_t then = start != NULL ? start->time_ns + start->duration_ns : end->time_ns;
    uint64_t now = end->time_ns + end->duration_ns;
    to->time_ns = then < now ? then : now; /* a clock may be set back */
    to->duration_ns = now - to->time_ns;
    to->window_ns = 0;
}

struct profile *since_make(const struct profile *start, const struct profile *end, uint64_t *excess,
                           char *error, size_t error_bytes) {
    const struct profile *const parts[] = {end, start};
    size_t bad;
    struct profile *alone = merge_profiles(parts, 1, &bad, error, error_bytes), *both, *to;
    if (alone == NULL)
        return NULL;
    both = merge_profiles(parts, start != NULL ? 2 : 1, &bad, error, error_bytes);
    if (both == NULL) {
        profile_free(alone);
        return NULL;
    }
    struct subtraction s = {
        .end = alone,
        .both = both,
        .growth = memory_new(both->n_nodes, sizeof *s.growth, "contexts"),
        .hidden = profile_find_hidden(both),
        .first = memory_new(both->n_nodes, sizeof *s.first, "contexts"),
        .next = memory_new(both->n_nodes, sizeof *s.next, "contexts"),
    };

    link_children(&s);
    *excess = subtract_nodes(&s);
    to = copy_begin(alone);
    copy_nodes(to, &s);
    subtract_processes(to, &s);
    bounds_set_errors(to);
    set_times(to, start, end);
    free(s.growth);
    free(s.hidden);
    free(s.first);
    free(s.next);
    profile_free(alone);
    profile_free(both);
    return to;
}
