/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_join.c - both profiles' nodes, one after the other, into one tree.
 *
 * By site, a node of a profile is a place below places: the node's routine (its own, at an entry;
 * the one that it is in, at a call site) is called from the call site that its parent stands for.
 * So all nodes below one parent that are in one routine become one context.
 */
#include "common/profile/eval_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/profile/eval_entries.h"
#include "common/profile/eval_processes.h"

/* Where a node of a profile is in the join. */
struct position {
    uint32_t context; /* 0: nowhere, it was pruned or is not compared */
    uint32_t site;    /* through which its children are called */
    bool inside;      /* at or below a function at which threads begin */
};

/* ---- places ---- */

static bool same_place(const void *entries, uint32_t i, const void *key) {
    const struct eval_place *have = &((const struct eval_join *)entries)->places[i];
    const struct eval_place *want = key;
    return have->module == want->module && have->address == want->address &&
           have->is_site == want->is_site && (want->address != 0 || have->name == want->name);
}

static uint32_t add_place(struct eval_join *join, const struct eval_place *place) {
    uint64_t hash = seeded_hash(seeded_hash(place->is_site, (uintptr_t)place->module),
                                place->address != 0 ? place->address : (uintptr_t)place->name);
    uint32_t *slot = intern_find(&join->by_place, hash, same_place, join, place);
    if (*slot == 0) {
        join->places = memory_grow(join->places, join->n_places, &join->place_room,
                                   sizeof *join->places, "places");
        join->places[join->n_places] = *place;
        *slot = join->n_places++;
    }
    return *slot;
}

/* The function that was compiled to where the location is, not one that was inlined there. */
static const char *function_name(const struct profile *profile,
                                 const struct profile_location *location) {
    return location->n_lines > 0
               ? profile->functions[location->lines[location->n_lines - 1].function].name
               : "";
}

static const char *module_key(struct eval_join *join, const struct profile *profile,
                              uint32_t module) {
    const struct profile_module *it = &profile->modules[module];
    return profile_string(join->names,
                          *it->build_id != '\0' ? it->build_id : profile_basename(it->path));
}

/* The location in the terms of the join, with the name by which entries are found. */
static struct eval_entry as_entry(struct eval_join *join, const struct profile *profile,
                                  const struct profile_location *location) {
    const char *name = function_name(profile, location);
    return (struct eval_entry){
        .module = module_key(join, profile, location->module),
        .name = profile_string(join->names, profile_is_place_name(name) ? "" : name),
        .address = location->address,
    };
}

static void add_entries(struct eval_join *join, const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *location = &profile->locations[i];
        if (location->is_entry && location->address != 0) {
            struct eval_entry entry = as_entry(join, profile, location);
            eval_entries_add(join->entries, &entry);
        }
    }
}

static uint32_t routine_place(struct eval_join *join, const struct profile *profile,
                              const struct profile_location *location) {
    const char *name = function_name(profile, location);
    struct eval_place place = {.name = profile_string(join->names, name)};
    /* frames that were grouped by function have no address: the name of a place tells them apart */
    if (*name == '\0' || (join->by != PROFILE_BY_FUNCTION && profile_is_place_name(name)))
        place.name = profile_place_name(join->names, profile, location);
    if (join->by == PROFILE_BY_FUNCTION) {
        place.module = profile_string(join->names, "");
        return add_place(join, &place);
    }
    struct eval_entry entry = as_entry(join, profile, location);
    place.module = entry.module;
    place.address = location->is_entry       ? entry.address
                    : location->routine != 0 ? location->routine
                                             : eval_entries_find(join->entries, &entry);
    return add_place(join, &place);
}

/* 0: children of such a node are not distinguished by their call sites. */
static uint32_t site_place(struct eval_join *join, const struct profile *profile,
                           const struct profile_location *location) {
    struct eval_place place = {.module = module_key(join, profile, location->module),
                               .name = profile_string(join->names, ""),
                               .address = location->address,
                               .is_site = true};
    if (join->by == PROFILE_BY_FUNCTION || location->is_entry)
        return 0;
    return add_place(join, &place);
}

/* ---- contexts ---- */

static bool same_path(const void *entries, uint32_t i, const void *key) {
    const struct eval_context *have = &((const struct eval_join *)entries)->contexts[i];
    const struct eval_context *want = key;
    return have->parent == want->parent && have->site == want->site &&
           have->routine == want->routine;
}

static uint32_t add_context(struct eval_join *join, uint32_t parent, uint32_t site,
                            uint32_t routine) {
    struct eval_context context = {.parent = parent, .site = site, .routine = routine};
    uint64_t hash = seeded_hash(seeded_hash(parent, site), routine);
    uint32_t *slot = intern_find(&join->by_path, hash, same_path, join, &context);
    if (*slot == 0) {
        join->contexts = memory_grow(join->contexts, join->n_contexts, &join->context_room,
                                     sizeof context, "contexts");
        join->contexts[join->n_contexts] = context;
        *slot = join->n_contexts++;
    }
    return *slot;
}

static uint32_t root_context(struct eval_join *join, const char *exe) {
    struct eval_place place = {.module = profile_string(join->names, ""),
                               .name = profile_string(join->names, exe),
                               .is_site = true};
    return add_context(join, 0, 0, add_place(join, &place));
}

/* The profile that is being added, and what its locations are, each found out once. */
struct adding {
    struct eval_join *join;
    const struct profile *profile;
    uint32_t *routine, *site; /* places by location */
    bool skip;                /* leave out frames outside the functions that are marked */
    bool only_common;         /* pass over functions that the other side does not have */
    int side;
};

static bool is_passed_over(const struct adding *adding, uint32_t routine) {
    return adding->only_common && !adding->join->places[routine].seen[1 - adding->side];
}

static void begin_adding(struct adding *adding) {
    const struct profile *profile = adding->profile;
    adding->routine = memory_new(profile->n_locations, sizeof *adding->routine, "places");
    adding->site = memory_new(profile->n_locations, sizeof *adding->site, "places");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        if (profile_is_pruned(profile, i))
            continue;
        adding->routine[i] = routine_place(adding->join, profile, &profile->locations[i]);
        adding->site[i] = site_place(adding->join, profile, &profile->locations[i]);
    }
}

/* The position of a node at that location below its parent's; nowhere when it was pruned. */
static struct position descend(struct adding *adding, uint32_t location, struct position above) {
    struct eval_join *join = adding->join;
    uint32_t routine = adding->routine[location];
    struct position at = {.inside = above.inside || join->places[routine].begins};
    if (above.context == 0 || routine == 0)
        return (struct position){0};
    if (is_passed_over(adding, routine))
        return above;
    if (adding->skip && at.inside && !above.inside) {
        while (join->contexts[above.context].parent != 0)
            above.context = join->contexts[above.context].parent;
        above.site = 0;
    }
    at.context = add_context(join, above.context, above.site, routine);
    at.site = adding->site[location];
    return at;
}

/* Adds one profile; `root` has the context of each of its processes, 0: it is not compared. */
static void add_side(struct eval_join *join, int side, const struct profile *profile,
                     const uint32_t *root, int skipped) {
    struct adding adding = {.join = join,
                            .profile = profile,
                            .skip = side == skipped,
                            .only_common = skipped != EVAL_SIDES,
                            .side = side};
    struct position *position = memory_new(profile->n_nodes, sizeof *position, "contexts");
    begin_adding(&adding);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (root[node->process] == 0)
            continue;
        if (node->parent == 0)
            position[i].context = root[node->process];
        else
            position[i] = descend(&adding, node->location, position[node->parent]);
        struct eval_context *context = &join->contexts[position[i].context];
        if (context->parent == 0) { /* nowhere, or the root itself */
            join->side[side].pruned += node->count;
            continue;
        }
        context->in[side] = true;
        context->count[side] += node->count;
        if (side == EVAL_APPROX) /* as the articles' counters: never too small */
            context->count[side] += node->counter_error;
        context->error[side] += node->counter_error;
    }
    free(adding.routine);
    free(adding.site);
    free(position);
}

static void mark_seen(struct eval_join *join, int side, const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_locations; i++)
        if (!profile_is_pruned(profile, i)) {
            uint32_t place = routine_place(join, profile, &profile->locations[i]);
            join->places[place].seen[side] = true;
        }
}

/* Marks the functions at which the threads of a side begin. */
static void mark_begins(struct eval_join *join) {
    for (uint32_t i = 1; i < join->n_contexts; i++) {
        const struct eval_context *context = &join->contexts[i];
        if (context->parent != 0 && join->contexts[context->parent].parent == 0)
            join->places[context->routine].begins = true;
    }
}

/* ---- the whole ---- */

const char *eval_collector(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const char *collector = profile->processes[i].collector;
        if (collector != NULL && *collector != '\0')
            return collector;
    }
    if (profile->phi == 0 && *profile->summary == '\0')
        return "";
    return strcmp(profile->type, "calls") == 0 ? "calls" : "walks";
}

static void begin(struct eval_join *join, enum profile_by by) {
    *join = (struct eval_join){.by = by, .names = profile_new()};
    join->entries = memory_new(1, sizeof *join->entries, "functions");
    join->places = memory_grow(NULL, 0, &join->place_room, sizeof *join->places, "places");
    join->contexts = memory_grow(NULL, 0, &join->context_room, sizeof *join->contexts, "contexts");
    join->places[0] = (struct eval_place){.module = "", .name = ""};
    join->contexts[0] = (struct eval_context){0};
    join->n_places = join->n_contexts = 1;
}

/* Which side's outer frames are left out, the one of walks; EVAL_SIDES: none's. */
static int side_to_skip(enum profile_by by, const struct profile *const profile[EVAL_SIDES]) {
    const char *exact = eval_collector(profile[EVAL_EXACT]);
    const char *approx = eval_collector(profile[EVAL_APPROX]);
    if (by != PROFILE_BY_FUNCTION || strcmp(exact, approx) == 0)
        return EVAL_SIDES;
    if (strcmp(exact, "calls") == 0)
        return EVAL_APPROX;
    return strcmp(approx, "calls") == 0 ? EVAL_EXACT : EVAL_SIDES;
}

static bool has_common(const struct eval_join *join) {
    for (uint32_t i = 1; i < join->n_contexts; i++)
        if (join->contexts[i].in[EVAL_EXACT] && join->contexts[i].in[EVAL_APPROX])
            return true;
    return false;
}

static void add_sides(struct eval_join *join, const struct profile *const profile[EVAL_SIDES],
                      const struct eval_processes *chosen) {
    int skipped = side_to_skip(join->by, profile);
    struct profile *grouped[EVAL_SIDES] = {NULL, NULL};
    uint32_t *root[EVAL_SIDES];
    for (int side = 0; side < EVAL_SIDES; side++) {
        root[side] = memory_new(profile[side]->n_processes, sizeof *root[side], "processes");
        for (uint32_t i = 1; i < profile[side]->n_processes; i++)
            if (chosen->exe[side][i] != NULL)
                root[side][i] = root_context(join, chosen->exe[side][i]);
        if (join->by == PROFILE_BY_FUNCTION)
            grouped[side] = profile_group(profile[side], PROFILE_BY_FUNCTION, 0);
        else
            add_entries(join, profile[side]);
    }
    eval_entries_sort(join->entries);
    if (skipped != EVAL_SIDES)
        for (int side = 0; side < EVAL_SIDES; side++)
            mark_seen(join, side, grouped[side]);
    int first = skipped == EVAL_EXACT ? EVAL_APPROX : EVAL_EXACT;
    for (int k = 0; k < EVAL_SIDES; k++) {
        int side = k == 0 ? first : 1 - first;
        add_side(join, side, grouped[side] != NULL ? grouped[side] : profile[side], root[side],
                 skipped);
        if (skipped != EVAL_SIDES && k == 0)
            mark_begins(join);
        free(root[side]);
        profile_free(grouped[side]);
    }
    join->outer_skipped = skipped != EVAL_SIDES;
}

bool eval_join(struct eval_join *join, const struct profile *const profile[EVAL_SIDES],
               enum profile_by by, const char *exe, char *error, size_t error_bytes) {
    struct eval_processes chosen;

    *join = (struct eval_join){0};
    if (!eval_processes_choose(&chosen, profile, exe, error, error_bytes))
        return false;
    begin(join, by);
    for (int side = 0; side < EVAL_SIDES; side++)
        eval_processes_add_up(&chosen, side, profile[side], join);
    add_sides(join, profile, &chosen);
    eval_processes_free(&chosen);
    if (join->side[EVAL_EXACT].total == 0 || join->side[EVAL_APPROX].total == 0)
        snprintf(error, error_bytes, "what is to be compared has no weight in the %s profile",
                 join->side[EVAL_EXACT].total == 0 ? "exact" : "approximate");
    else if (has_common(join))
        return true;
    else
        snprintf(error, error_bytes, "the profiles have no context in common: %s",
                 by == PROFILE_BY_SITE
                     ? "they are of different programs, or builds (--by function compares builds)"
                     : "they are of different programs");
    eval_join_free(join);
    return false;
}

void eval_join_free(struct eval_join *join) {
    if (join->entries != NULL)
        eval_entries_free(join->entries);
    free(join->entries);
    free(join->contexts);
    free(join->places);
    intern_free(&join->by_place);
    intern_free(&join->by_path);
    profile_free(join->names);
    *join = (struct eval_join){0};
}

char *eval_path(const struct eval_join *join, uint32_t context) {
    uint32_t depth = 0, *path;
    FILE *out = memory_stream("a name");
    for (uint32_t i = context; join->contexts[i].parent != 0; i = join->contexts[i].parent)
        depth++;
    path = memory_new((size_t)depth + 1, sizeof *path, "a name");
    for (uint32_t i = context, k = depth; k > 0; i = join->contexts[i].parent)
        path[--k] = i;
    for (uint32_t k = 0; k < depth; k++) {
        fputs(k > 0 ? " > " : "", out);
        utf8_put(out, join->places[join->contexts[path[k]].routine].name);
    }
    free(path);
    return memory_stream_end(out, NULL, "a name");
}
