/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shown.c - nodes are matched by their paths, locations by their places and names.
 */
#include "tests/daemon/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/bounds.h"
#include "common/profile/merge.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"

void shown_make(struct shown *shown, struct profile *profile) {
    shown->profile = profile;
    shown->inclusive = tree_inclusive(profile);
    shown->upper = tree_upper(profile, shown->inclusive);
    shown->flat = bounds_flat(profile, shown->inclusive);
    shown->hidden = profile_find_hidden(profile);
}

void shown_free(struct shown *shown) {
    free(shown->inclusive);
    free(shown->upper);
    free(shown->flat);
    free(shown->hidden);
    profile_free(shown->profile);
}

void shown_name(struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location place = profile->locations[i];
        struct profile_line line = {.line = place.is_entry ? 0 : (uint32_t)place.address};
        char name[32];
        if (place.n_lines > 0)
            continue;
        snprintf(name, sizeof name, "f%u", (unsigned)(place.address / 0x1000));
        line.function = profile_add_function(profile, name, name, "", 0);
        profile_set_lines(profile, i, &line, 1);
    }
}

/* ---- matching ---- */

/* Numbers by two numbers: chains in one array, as many as the next power of two of n. */
struct table {
    uint32_t *first, *next;
    uint32_t mask;
};

static void *array(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

static void table_make(struct table *table, uint32_t n) {
    table->mask = 15;
    while (table->mask < n)
        table->mask = 2 * table->mask + 1;
    table->first = array(table->mask + 1u, sizeof *table->first);
    table->next = array(n, sizeof *table->next);
}

static void table_free(struct table *table) {
    free(table->first);
    free(table->next);
}

static uint32_t *table_chain(const struct table *table, uint64_t a, uint64_t b) {
    uint64_t hash = (a * 0x9e3779b97f4a7c15u + b) * 0xbf58476d1ce4e5b9u;
    return &table->first[(uint32_t)(hash >> 32) & table->mask];
}

static void table_add(struct table *table, uint64_t a, uint64_t b, uint32_t i) {
    uint32_t *chain = table_chain(table, a, b);
    table->next[i] = *chain;
    *chain = i;
}

static bool same_place(const struct profile *a, uint32_t i, const struct profile *b, uint32_t k) {
    const struct profile_location *x = &a->locations[i], *y = &b->locations[k];
    return x->address == y->address && x->is_entry == y->is_entry && x->n_lines == 1 &&
           y->n_lines == 1 && x->lines[0].line == y->lines[0].line &&
           strcmp(a->functions[x->lines[0].function].name,
                  b->functions[y->lines[0].function].name) == 0;
}

static uint32_t line_of(const struct profile_location *place) {
    return place->n_lines == 1 ? place->lines[0].line : 0;
}

/* By location of `a`: the same place in `b`, 0: there is none. */
static uint32_t *match_locations(const struct profile *a, const struct profile *b) {
    uint32_t *match = array(a->n_locations, sizeof *match);
    struct table table;
    table_make(&table, b->n_locations);
    for (uint32_t k = 1; k < b->n_locations; k++)
        table_add(&table, b->locations[k].address, line_of(&b->locations[k]), k);
    for (uint32_t i = 1; i < a->n_locations; i++) {
        const struct profile_location *place = &a->locations[i];
        uint32_t k = *table_chain(&table, place->address, line_of(place));
        while (k != 0 && !same_place(a, i, b, k))
            k = table.next[k];
        match[i] = k;
    }
    table_free(&table);
    return match;
}

/* By node of `a`: the same context in `b`, 0: there is none. */
static uint32_t *match_nodes(const struct profile *a, const struct profile *b,
                             const uint32_t *place) {
    uint32_t *match = array(a->n_nodes, sizeof *match);
    struct table table;
    table_make(&table, b->n_nodes);
    for (uint32_t k = 1; k < b->n_nodes; k++)
        table_add(&table, b->nodes[k].parent, b->nodes[k].location, k);
    for (uint32_t i = 1; i < a->n_nodes; i++) {
        const struct profile_node *node = &a->nodes[i];
        uint32_t parent = match[node->parent], location = place[node->location], k;
        if ((node->parent != 0 && parent == 0) || (node->location != 0 && location == 0))
            continue;
        k = *table_chain(&table, parent, location);
        while (k != 0 && !(b->nodes[k].parent == parent && b->nodes[k].location == location))
            k = table.next[k];
        match[i] = k;
    }
    table_free(&table);
    return match;
}

/* ---- what is shown, and what is true ---- */

struct interval {
    uint64_t low, high;
};

static bool holds(const char *what, const struct profile *profile, uint32_t location,
                  struct interval shown, uint64_t truth) {
    const struct profile_location *place = &profile->locations[location];
    const char *name =
        place->n_lines > 0 ? profile->functions[place->lines[0].function].name : "a root";

    if (shown.low <= truth && truth <= shown.high)
        return true;
    fprintf(stderr, "%s of %s: %llu is not in [%llu, %llu]\n", what, name,
            (unsigned long long)truth, (unsigned long long)shown.low,
            (unsigned long long)shown.high);
    return false;
}

/* Grouped by places, a routine as a whole has what is below any place of it that is not known: more
 * than its own in the exact tree. */
static bool is_any_place(const struct profile *profile, uint32_t location, enum profile_by by) {
    return (by == PROFILE_BY_SITE || by == PROFILE_BY_LINE) &&
           profile->locations[location].is_entry;
}

static bool check_nodes(const struct shown *shown, const struct shown *truth, enum profile_by by,
                        const uint32_t *place) {
    const struct profile *profile = shown->profile;
    uint32_t *match = match_nodes(profile, truth->profile, place);
    uint64_t total = profile_total(profile);
    bool good = true;
    for (uint32_t i = 1; i < profile->n_nodes && good; i++) {
        const struct profile_node *node = &profile->nodes[i];
        uint64_t self = match[i] != 0 ? truth->profile->nodes[match[i]].count : 0;
        uint64_t inclusive = match[i] != 0 ? truth->inclusive[match[i]] : 0;
        uint64_t low = is_any_place(profile, node->location, by) ? 0 : shown->inclusive[i];
        if (shown->hidden[i])
            continue;
        good = holds("the self weight of a node", profile, node->location,
                     (struct interval){node->count, node->count + node->error}, self) &&
               holds("the inclusive weight of a node", profile, node->location,
                     (struct interval){low, shown->upper[i]}, inclusive) &&
               holds("the bound", profile, node->location, (struct interval){0, total},
                     shown->upper[i]);
    }
    free(match);
    return good;
}

static bool check_flat(const struct shown *shown, const struct shown *truth, enum profile_by by,
                       const uint32_t *place) {
    const struct profile *profile = shown->profile;
    bool good = true;
    for (uint32_t i = 1; i < profile->n_locations && good; i++) {
        const struct profile_flat *flat = &shown->flat[i];
        struct profile_flat true_ = {0};
        uint64_t low = is_any_place(profile, i, by) ? 0 : flat->inclusive;
        if (profile_is_pruned(profile, i) || (flat->upper == 0 && flat->self == 0))
            continue;
        if (place[i] != 0)
            true_ = truth->flat[place[i]];
        good = holds("the self weight", profile, i, (struct interval){flat->self, flat->self_upper},
                     true_.self) &&
               holds("the inclusive weight", profile, i, (struct interval){low, flat->upper},
                     true_.inclusive);
    }
    return good;
}

/* What is shown of all locations, and of none that is known, adds up to N. */
static bool check_sum(const struct shown *shown) {
    const struct profile *profile = shown->profile;
    uint64_t sum = 0, unknown = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++)
        if (!profile_is_pruned(profile, i))
            sum += shown->flat[i].self;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].location == 0 ||
            profile_is_pruned(profile, profile->nodes[i].location))
            unknown += profile->nodes[i].count;
    return holds("the sum of self weights", profile, 0, (struct interval){sum, sum + unknown},
                 profile_total(profile));
}

static bool check_shown(struct profile *profile, const struct shown *truth, enum profile_by by) {
    uint32_t *place = match_locations(profile, truth->profile);
    struct shown shown;
    bool good;
    shown_make(&shown, profile);
    good = holds("the total", profile, 0,
                 (struct interval){profile_total(profile), profile_total(profile)},
                 profile_total(truth->profile)) &&
           check_nodes(&shown, truth, by, place) && check_flat(&shown, truth, by, place) &&
           check_sum(&shown);
    shown_free(&shown);
    free(place);
    return good;
}

bool shown_is_true(const struct profile *part, const struct profile *whole) {
    bool good = true;
    for (int by = PROFILE_BY_FUNCTION; by <= PROFILE_BY_THREAD && good; by++) {
        struct profile *grouped = profile_group(part, (enum profile_by)by, 0);
        struct shown truth;
        shown_make(&truth, profile_group(whole, (enum profile_by)by, 0));
        for (int percent = 1; percent < 60 && good; percent = 3 * percent + 1)
            good = check_shown(profile_group(part, (enum profile_by)by, percent / 100.0), &truth,
                               (enum profile_by)by);
        good = good && check_shown(profile_keep(grouped, 1), &truth, (enum profile_by)by) &&
               check_shown(profile_keep(grouped, 10), &truth, (enum profile_by)by);
        if (good)
            good = check_shown(grouped, &truth, (enum profile_by)by);
        else
            profile_free(grouped);
        shown_free(&truth);
    }
    return good;
}

/* ---- what is done with profiles ---- */

struct profile *shown_through_file(const struct profile *profile) {
    struct format_options options = format_default_options;
    char *data = NULL, error[300];
    size_t bytes = 0;
    FILE *file = open_memstream(&data, &bytes);
    struct profile *back;

    if (file == NULL || !write_pprof(file, profile, &options))
        abort();
    fclose(file);
    back = read_pprof(data, bytes, error, sizeof error);
    if (back == NULL)
        abort();
    free(data);
    return back;
}

struct profile *shown_merged(const struct profile *const *parts, size_t n) {
    char error[300];
    size_t bad;

    return merge_profiles(parts, n, &bad, error, sizeof error);
}
