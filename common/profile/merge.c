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
#include "common/profile/places.h"
#include "common/profile/process_fields.h"

struct merging {
    struct profile *to;
    struct counted {
        uint32_t trees; /* how many trees of the parts count this context ... */
        uint32_t last;  /* ... and the last of them */
    } * counted;        /* by node */
    uint32_t counted_room;
    uint32_t tree;   /* the tree at hand, from 1 on */
    bool ended_only; /* processes that still run are not added up */
    struct places places;
};

/* ---- processes ---- */

static const char *text_of(const char *text) {
    return text != NULL ? text : "";
}

bool merge_are_alike(const struct profile_process *a, const struct profile_process *b) {
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

void merge_add_process(struct profile *to, struct profile_process *sum,
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
        copy.walks = (uint64_t)(chance_samples(&chance, 0.5) + 0.5);
    return copy;
}

static bool may_join(const struct merging *m, const struct profile_process *a,
                     const struct profile_process *b) {
    return !(m->ended_only && (a->live || b->live)) && merge_are_alike(a, b);
}

static uint32_t merge_process(struct merging *m, const struct profile *from, uint32_t process) {
    const struct profile_process copy = with_walks(from, process);
    for (uint32_t i = 1; i < m->to->n_processes; i++)
        if (may_join(m, &m->to->processes[i], &copy)) {
            merge_add_process(m->to, &m->to->processes[i], &copy);
            return i;
        }
    return profile_add_process(m->to, &copy);
}

/* ---- contexts ---- */

/* `trees` of the part's, or, 0, the tree at hand. */
static void note_counter(struct merging *m, uint32_t node, uint32_t trees) {
    while (node >= m->counted_room) {
        uint32_t before = m->counted_room;
        m->counted =
            memory_grow(m->counted, before, &m->counted_room, sizeof *m->counted, "contexts");
        memset(m->counted + before, 0, (m->counted_room - before) * sizeof *m->counted);
    }
    if (trees == 0 && m->counted[node].last == m->tree)
        return;
    m->counted[node].last = m->tree;
    m->counted[node].trees += trees > 0 ? trees : 1;
}

/* Where all trees have counted a context, their errors add up. A tree that has not may have met it
 * all the same, and has it in a PROFILE_PRUNED frame then. `trees`: how many count it, by node. */
static void find_errors(struct profile *sum, const uint32_t *trees) {
    uint32_t *of_process = memory_new(sum->n_processes, sizeof *of_process, "processes");
    uint64_t *most = bounds_self(sum);
    for (uint32_t i = 1; i < sum->n_nodes; i++) {
        struct profile_node *node = &sum->nodes[i];
        if (node->parent == 0)
            of_process[node->process] = trees[i];
        else if (node->error > most[i] || (trees[i] > 0 && trees[i] < of_process[node->process]))
            node->error = most[i];
    }
    free(most);
    free(of_process);
}

static void merge_nodes(struct merging *m, const struct profile *from, const uint32_t *trees) {
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
            note_counter(m, node[i], trees != NULL ? trees[i] : 0);
            m->to->nodes[node[i]].count += source->count;
            continue;
        }
        if (place[source->location] == 0)
            place[source->location] = places_add(&m->places, from, source->location, NULL);
        node[i] = profile_add_node(m->to, node[source->parent], place[source->location],
                                   source->count, source->error);
        if (node[i] == before)
            m->to->nodes[before].inlined = source->inlined;
        if (source->count > 0 || source->error > 0)
            note_counter(m, node[i], trees != NULL ? trees[i] : 0);
    }
    free(process);
    free(place);
    free(node);
}

/* ---- the whole ---- */

void merge_header(struct profile *to, const struct profile *from, bool first) {
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
    if (m->to != NULL) {
        uint32_t *trees = memory_new(m->to->n_nodes, sizeof *trees, "contexts");
        for (uint32_t i = 0; i < m->to->n_nodes && i < m->counted_room; i++)
            trees[i] = m->counted[i].trees;
        find_errors(m->to, trees);
        free(trees);
    }
    places_free(&m->places);
    free(m->counted);
    return m->to;
}

struct profile *merge_parts(const struct merge_part *parts, size_t n, size_t *bad, char *error,
                            size_t error_bytes) {
    struct merging m = {.to = profile_new()};
    uint64_t left = INT64_MAX;
    m.places.to = m.to;
    for (size_t i = 0; i < n; i++) {
        if (!fits(parts[0].profile, parts[i].profile, &left, error, error_bytes)) {
            *bad = i;
            profile_free(m.to);
            m.to = NULL;
            break;
        }
        merge_header(m.to, parts[i].profile, i == 0);
        merge_nodes(&m, parts[i].profile, parts[i].trees);
    }
    return end(&m);
}

void merge_finish(struct profile *sum, const uint32_t *trees) {
    find_errors(sum, trees);
}

struct profile *merge_profiles(const struct profile *const *parts, size_t n, size_t *bad,
                               char *error, size_t error_bytes) {
    struct merge_part *plain = memory_new(n, sizeof *plain, "profiles");
    for (size_t i = 0; i < n; i++)
        plain[i].profile = parts[i];
    struct profile *sum = merge_parts(plain, n, bad, error, error_bytes);
    free(plain);
    return sum;
}

static bool has_runs(const struct profile *profile) {
    for (uint32_t i = 2; i < profile->n_processes; i++)
        for (uint32_t k = 1; k < i; k++)
            if (!profile->processes[i].live && !profile->processes[k].live &&
                merge_are_alike(&profile->processes[i], &profile->processes[k]))
                return true;
    return false;
}

struct profile *merge_runs(const struct profile *profile) {
    struct merging m = {.ended_only = true};

    if (profile->bounded || !has_runs(profile))
        return NULL;
    m.places.to = m.to = profile_new();
    merge_header(m.to, profile, true);
    merge_nodes(&m, profile, NULL);
    m.to->unresolved = profile->unresolved;
    return end(&m);
}
