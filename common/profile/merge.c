/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge.c - one profile after the other into one forest.
 */
#include "common/profile/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/call_modules.h"
#include "common/profile/chance.h"
#include "common/profile/copy.h"
#include "common/base/intern.h"
#include "common/profile/process_fields.h"

struct merging {
    struct profile *to;
    struct counted {
        uint32_t trees; /* how many trees of the parts count this context ... */
        uint32_t last;  /* ... and the last of them */
    } * counted;        /* by node */
    uint32_t counted_room;
    uint32_t tree;          /* the tree at hand, from 1 on */
    bool ended_only;        /* processes that still run are not added up */
    struct intern by_place; /* locations that their address tells */
    uint32_t *places;
    uint32_t n_places, room;
};

/* ---- locations ---- */

static bool same_place(const void *entries, uint32_t i, const void *key) {
    const struct merging *m = entries;
    const struct profile_location *have = &m->to->locations[m->places[i]], *want = key;
    return have->module == want->module && have->address == want->address &&
           have->is_entry == want->is_entry && have->routine == want->routine;
}

static bool is_named(const struct profile *profile, const struct profile_location *location) {
    return location->n_lines > 0 &&
           !profile_is_place_name(profile->functions[location->lines[0].function].name);
}

/* An address in a file that a build-id tells is one place, with whatever symbols the parts had for
 * it; the better ones are kept. */
static uint32_t merge_location(struct merging *m, const struct profile *from, uint32_t location) {
    struct profile_location place = from->locations[location];
    uint32_t copy, *slot;
    if (place.module == 0 || *from->modules[place.module].build_id == '\0')
        return copy_location(m->to, from, location);
    place.module = copy_module(m->to, from, place.module);
    uint64_t hash =
        seeded_hash(seeded_hash(place.module, place.address), place.routine * 2 + place.is_entry);
    slot = intern_find(&m->by_place, hash, same_place, m, &place);
    if (*slot != 0 && (is_named(m->to, &m->to->locations[m->places[*slot]]) ||
                       !is_named(from, &from->locations[location])))
        return m->places[*slot];
    copy = copy_location(m->to, from, location);
    if (*slot != 0) {
        const struct profile_location *better = &m->to->locations[copy];
        profile_set_lines(m->to, m->places[*slot], better->lines, better->n_lines);
        return m->places[*slot];
    }
    m->places = memory_grow(m->places, m->n_places, &m->room, sizeof *m->places, "locations");
    m->places[m->n_places] = copy;
    *slot = m->n_places++;
    return copy;
}

/* ---- processes ---- */

static const char *text_of(const char *text) {
    return text != NULL ? text : "";
}

static bool are_alike(const struct profile_process *a, const struct profile_process *b) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        if (field->over != FIELD_SAME)
            continue;
        if (field->kind != FIELD_STRING &&
            process_field_number(a, field) != process_field_number(b, field))
            return false;
        if (field->kind == FIELD_STRING && strcmp(text_of(process_field_string(a, field)),
                                                  text_of(process_field_string(b, field))) != 0)
            return false;
    }
    return true;
}

/* Modules whose calls are followed: those of both. */
static void join_call_modules(struct profile *to, struct profile_process *sum,
                              const struct profile_process *process) {
    struct call_modules modules = {0};
    call_modules_read(&modules, text_of(sum->call_modules));
    call_modules_read(&modules, text_of(process->call_modules));
    char *text = modules.n > 0 ? call_modules_write(&modules) : NULL;
    sum->call_modules = profile_string(to, text);
    free(text);
    call_modules_clear(&modules);
}

static void add_process(struct profile *to, struct profile_process *sum,
                        const struct profile_process *process) {
    uint32_t runs = (sum->runs > 0 ? sum->runs : 1) + (process->runs > 0 ? process->runs : 1);
    bool live = sum->live || process->live;
    process_fields_add(sum, process);
    sum->runs = runs;
    sum->live = live;
    sum->pid = 0;
    join_call_modules(to, sum, process);
}

/* How often another tool sampled follows from the period of its profile, which the sum may not
 * have.
 */
static struct profile_process with_walks(const struct profile *from, uint32_t process) {
    struct profile_process copy = from->processes[process];
    struct chance chance = CHANCE_NONE;
    chance_add(&chance, from, process, copy.total);
    if (copy.walks == 0 && *copy.collector == '\0' && chance.kind == CHANCE_SAMPLED)
        copy.walks = (uint64_t)(chance_samples(&chance, 0.5, 0) + 0.5);
    return copy;
}

static bool may_join(const struct merging *m, const struct profile_process *a,
                     const struct profile_process *b) {
    return !(m->ended_only && (a->live || b->live)) && are_alike(a, b);
}

static uint32_t merge_process(struct merging *m, const struct profile *from, uint32_t process) {
    const struct profile_process copy = with_walks(from, process);
    for (uint32_t i = 1; i < m->to->n_processes; i++)
        if (may_join(m, &m->to->processes[i], &copy)) {
            add_process(m->to, &m->to->processes[i], &copy);
            return i;
        }
    return profile_add_process(m->to, &copy);
}

/* ---- contexts ---- */

static void note_counter(struct merging *m, uint32_t node, const struct profile_node *source) {
    while (node >= m->counted_room) {
        uint32_t before = m->counted_room;
        m->counted =
            memory_grow(m->counted, before, &m->counted_room, sizeof *m->counted, "contexts");
        memset(m->counted + before, 0, (m->counted_room - before) * sizeof *m->counted);
    }
    if ((source->count == 0 && source->error == 0) || m->counted[node].last == m->tree)
        return;
    m->counted[node].last = m->tree;
    m->counted[node].trees++;
}

/* Where all trees have counted a context, their errors add up. A tree that has not may have met it
 * all the same, and has it in a PROFILE_PRUNED frame then. */
static void find_errors(struct merging *m) {
    uint32_t *trees = memory_new(m->to->n_processes, sizeof *trees, "processes");
    uint64_t *most = bounds_self(m->to);
    for (uint32_t i = 1; i < m->to->n_nodes; i++) {
        struct profile_node *node = &m->to->nodes[i];
        uint32_t have = i < m->counted_room ? m->counted[i].trees : 0;
        if (node->parent == 0)
            trees[node->process] = have;
        else if (node->error > most[i] || (have > 0 && have < trees[node->process]))
            node->error = most[i];
    }
    free(most);
    free(trees);
}

static void merge_nodes(struct merging *m, const struct profile *from) {
    uint32_t *process = memory_new(from->n_processes, sizeof *process, "processes");
    uint32_t *place = memory_new(from->n_locations, sizeof *place, "locations");
    uint32_t *node = memory_new(from->n_nodes, sizeof *node, "contexts");
    for (uint32_t i = 1; i < from->n_processes; i++)
        process[i] = merge_process(m, from, i);
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *source = &from->nodes[i];
        uint32_t before = m->to->n_nodes;
        if (source->parent == 0) {
            node[i] = profile_root(m->to, process[source->process]);
            m->tree++;
            note_counter(m, node[i], &(struct profile_node){.count = 1});
            m->to->nodes[node[i]].count += source->count;
            continue;
        }
        if (place[source->location] == 0)
            place[source->location] = merge_location(m, from, source->location);
        node[i] = profile_add_node(m->to, node[source->parent], place[source->location],
                                   source->count, source->error);
        if (node[i] == before)
            m->to->nodes[before].inlined = source->inlined;
        note_counter(m, node[i], source);
    }
    free(process);
    free(place);
    free(node);
}

/* ---- the whole ---- */

static void merge_header(struct profile *to, const struct profile *from, bool first) {
    if (first) {
        to->type = profile_string(to, from->type);
        to->unit = profile_string(to, from->unit);
        to->summary = profile_string(to, from->summary);
        to->period = from->period;
    }
    if (strcmp(to->summary, from->summary) != 0)
        to->summary = profile_string(to, "");
    if (to->period != from->period)
        to->period = 0;
    /* what has phi of the sum has it of a part, which keeps it, when the part's phi is no larger */
    to->phi = from->phi > to->phi ? from->phi : to->phi;
    to->epsilon = from->epsilon > to->epsilon ? from->epsilon : to->epsilon;
    if (first)
        to->others = profile_string(to, from->others);
    to->title = first || strcmp(to->title, from->title) == 0 ? profile_string(to, from->title) : "";
    to->window_ns = from->window_ns > to->window_ns ? from->window_ns : to->window_ns;
    to->is_past |= from->is_past;
    if (from->time_ns != 0 && (to->time_ns == 0 || from->time_ns < to->time_ns))
        to->time_ns = from->time_ns;
    to->duration_ns += from->duration_ns;
    to->kernel_ns = first || (to->kernel_ns > 0 && from->kernel_ns > 0)
                        ? to->kernel_ns + from->kernel_ns
                        : 0; /* of a part of the sum it would be wrong */
}

static bool fits(const struct profile *first, const struct profile *next, uint64_t *left,
                 char *error, size_t error_bytes) {
    uint64_t total = profile_total(next);
    if (strcmp(first->type, next->type) != 0 || strcmp(first->unit, next->unit) != 0)
        snprintf(error, error_bytes,
                 "it counts %.60s in %.60s, the first one %.60s in %.60s: these can't be added up",
                 next->type, next->unit, first->type, first->unit);
    else if (total > *left)
        snprintf(error, error_bytes, "the weights are too large to be added up");
    else {
        *left -= total;
        return true;
    }
    return false;
}

static struct profile *end(struct merging *m) {
    if (m->to != NULL)
        find_errors(m);
    intern_free(&m->by_place);
    free(m->places);
    free(m->counted);
    return m->to;
}

struct profile *merge_profiles(const struct profile *const *parts, size_t n, size_t *bad,
                               char *error, size_t error_bytes) {
    struct merging m = {.to = profile_new(), .n_places = 1};
    uint64_t left = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!fits(parts[0], parts[i], &left, error, error_bytes)) {
            *bad = i;
            profile_free(m.to);
            m.to = NULL;
            break;
        }
        merge_header(m.to, parts[i], i == 0);
        merge_nodes(&m, parts[i]);
    }
    return end(&m);
}

static bool has_runs(const struct profile *profile) {
    for (uint32_t i = 2; i < profile->n_processes; i++)
        for (uint32_t k = 1; k < i; k++)
            if (!profile->processes[i].live && !profile->processes[k].live &&
                are_alike(&profile->processes[i], &profile->processes[k]))
                return true;
    return false;
}

struct profile *merge_runs(const struct profile *profile) {
    struct merging m = {.n_places = 1, .ended_only = true};

    if (profile->bounded || !has_runs(profile))
        return NULL;
    m.to = profile_new();
    merge_header(m.to, profile, true);
    merge_nodes(&m, profile);
    m.to->unresolved = profile->unresolved;
    return end(&m);
}
