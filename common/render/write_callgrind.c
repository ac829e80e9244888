/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_callgrind.c - the callgrind profile format, for KCachegrind and callgrind_annotate.
 *
 * Its readers know functions and calls, no contexts: contexts merge. They add the costs of calls up
 * to inclusive ones, so recursion would be counted twice; a function that is called by its like is
 * another one, f'2, as callgrind itself names it. What they can't know is in `desc:` lines.
 *
 * Functions are the same whether contexts are grouped by function or by line, so lines are always
 * written where they are known; by=site adds the addresses.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/base/intern.h"
#include "common/render/call_graph.h"
#include "common/render/format.h"
#include "common/render/title.h"

#define UNKNOWN "???" /* as callgrind says it */

struct names {
    const char **text; /* by number; 0 is none */
    uint32_t n, room;
    struct intern table;
};

struct callgrind {
    FILE *out;
    struct call_graph graph;
    struct names objects, files;
    uint64_t total, total_error;
    bool addresses;
};

/* ---- names ---- */

static bool same_name(const void *entries, uint32_t i, const void *key) {
    const struct names *names = entries;
    return names->text[i] == key;
}

/* "ob=(3)", and behind it, for the first time, the name. Names are strings of the profile. */
static void put_name(FILE *out, const char *key, struct names *names, const char *name) {
    uint32_t *slot =
        intern_find(&names->table, seeded_hash(0, (uintptr_t)name), same_name, names, name);
    fprintf(out, "%s=(%" PRIu32 ")", key, *slot != 0 ? *slot : names->n + 1);
    if (*slot == 0) {
        *slot = ++names->n;
        names->text = memory_grow(names->text, *slot, &names->room, sizeof *names->text, "names");
        names->text[*slot] = name;
        fputc(' ', out);
        utf8_put(out, *name != '\0' ? name : UNKNOWN);
    }
    fputc('\n', out);
}

/* Vertices are numbered as their functions: `calls` says whether it is one that is called. */
static void put_function(struct callgrind *c, uint32_t vertex, bool calls, bool *named) {
    const struct call_vertex *it = &c->graph.vertices[vertex];
    const struct call_frame *frame = &c->graph.frames[it->frame];
    put_name(c->out, calls ? "cob" : "ob", &c->objects, frame->object);
    put_name(c->out, calls ? "cfi" : "fl", &c->files, frame->file);
    fprintf(c->out, "%s=(%" PRIu32 ")", calls ? "cfn" : "fn", vertex);
    if (!named[vertex]) {
        named[vertex] = true;
        fputc(' ', c->out);
        utf8_put(c->out, *frame->name != '\0' ? frame->name : UNKNOWN);
        if (it->level > 1)
            fprintf(c->out, "'%" PRIu32, it->level);
    }
    fputc('\n', c->out);
}

/* ---- header ---- */

struct event {
    char name[40], text[80];
};

/* Known types have a name that says what they are, others one made of theirs. */
static struct event event_of(const struct profile *profile) {
    struct event event;
    bool ns = strcmp(profile->unit, "nanoseconds") == 0;
    if (ns && strcmp(profile->type, "cpu") == 0)
        return (struct event){"CPU_ns", "CPU time in ns"};
    if (ns && strcmp(profile->type, "wall") == 0)
        return (struct event){"Wall_ns", "wall-clock time in ns"};
    if (ns && strcmp(profile->type, "wait") == 0)
        return (struct event){"Wait_ns", "time off the processor in ns"};
    if (profile_of_calls(profile))
        return (struct event){"Calls", "calls"};
    snprintf(event.name, sizeof event.name, "%s_%s",
             *profile->type != '\0' ? profile->type : "weight", profile->unit);
    for (char *at = event.name; *at != '\0'; at++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", *at) == NULL)
            *at = '_';
    snprintf(event.text, sizeof event.text, "%.39s in %.36s",
             *profile->type != '\0' ? profile->type : "weight",
             *profile->unit != '\0' ? profile->unit : "units");
    return event;
}

static void put_command(const struct callgrind *c) {
    const struct profile *profile = c->graph.profile;
    if (profile->n_processes == 2 && profile->processes[1].pid != 0)
        fprintf(c->out, "pid: %" PRIu32 "\n", profile->processes[1].pid);
    if (profile->n_processes > 1) {
        char *command = title_of_command(profile);
        fputs("cmd: ", c->out);
        utf8_put(c->out, command);
        fputc('\n', c->out);
        free(command);
    }
    fputs("part: 1\n", c->out);
}

static void put_event(const struct callgrind *c) {
    const struct event event = event_of(c->graph.profile);
    fprintf(c->out, "positions: %s\n", c->addresses ? "instr line" : "line");
    fprintf(c->out, "event: %s : ", event.name);
    utf8_put(c->out, event.text);
    fprintf(
        c->out,
        "\nevent: %s_error : so much %s of a function or call can be too low; sums mean nothing\n",
        event.name, event.name);
    fprintf(c->out, "events: %s %s_error\n", event.name, event.name);
    fprintf(c->out, "summary: %" PRIu64 " %" PRIu64 "\n", c->total, c->total_error);
}

static void put_header(const struct callgrind *c) {
    const struct profile *profile = c->graph.profile;
    fprintf(c->out, "# callgrind format\nversion: 1\ncreator: hcct-%s\n", HCCT_VERSION);
    put_command(c);
    fputs("desc: weight: ", c->out);
    utf8_put(c->out, *profile->type != '\0' ? profile->type : "weight");
    fputs(" in ", c->out);
    utf8_put(c->out, *profile->unit != '\0' ? profile->unit : "units");
    fprintf(c->out, ", N = %" PRIu64 "\n", c->total);
    if (profile->phi > 0)
        fprintf(c->out, "desc: hot contexts: phi = %g, epsilon = %g, by ", profile->phi,
                profile->epsilon);
    if (profile->phi > 0) {
        utf8_put(c->out, profile->summary);
        fputc('\n', c->out);
    }
    if (!profile_of_calls(profile))
        fputs("desc: call counts: contexts, for calls are not counted\n", c->out);
    put_event(c);
}

/* ---- costs ---- */

static void put_position(const struct callgrind *c, uint32_t place) {
    const struct profile_location *it = &c->graph.profile->locations[place];
    if (c->addresses)
        fprintf(c->out, "0x%" PRIx64 " ", it->address);
    fprintf(c->out, "%" PRIu32, it->n_lines > 0 ? it->lines[0].line : 0);
}

/* The number of calls is never 0: readers would take the line of its cost for one of the caller. */
static void put_call(struct callgrind *c, const struct call_edge *edge, bool *named) {
    uint64_t calls = profile_of_calls(c->graph.profile) ? edge->entered : edge->contexts;
    put_function(c, edge->callee, true, named);
    fprintf(c->out, "calls=%" PRIu64 "%s 0\n", calls > 0 ? calls : 1, c->addresses ? " 0x0" : "");
}

/* Readers add the bounds of calls to that of the function itself: at least what its inclusive
 * weight can be larger by, where it has calls. Where it has none, its own row tells that. */
static uint64_t own_bound(const struct callgrind *c, uint32_t vertex, uint32_t first_edge) {
    const struct call_vertex *it = &c->graph.vertices[vertex];
    for (uint32_t e = first_edge; e < c->graph.n_edges && c->graph.edges[e].caller == vertex; e++)
        if (c->graph.edges[e].callee != 0)
            return it->self_error;
    return it->inclusive_error > it->self_error ? it->inclusive_error : it->self_error;
}

/* The bound stands in the first row of the function's self weight, or in a row by itself. */
static void put_own(struct callgrind *c, const struct call_edge *edge, uint64_t *bound) {
    put_position(c, edge != NULL ? edge->place : 0);
    fprintf(c->out, " %" PRIu64 " %" PRIu64 "\n", edge != NULL ? edge->weight : 0, *bound);
    *bound = 0;
}

static uint64_t sum_of_bounds(const struct callgrind *c) {
    uint64_t sum = 0;
    for (uint32_t vertex = 1, e = 1; vertex < c->graph.n_vertices; vertex++) {
        sum += own_bound(c, vertex, e);
        while (e < c->graph.n_edges && c->graph.edges[e].caller == vertex)
            e++;
    }
    return sum;
}

static void put_costs(struct callgrind *c) {
    bool *named = memory_new(c->graph.n_vertices, sizeof *named, "functions");
    uint32_t e = 1;
    for (uint32_t vertex = 1; vertex < c->graph.n_vertices; vertex++) {
        uint64_t bound = own_bound(c, vertex, e);
        fputc('\n', c->out);
        put_function(c, vertex, false, named);
        for (; e < c->graph.n_edges && c->graph.edges[e].caller == vertex; e++) {
            const struct call_edge *edge = &c->graph.edges[e];
            if (edge->callee == 0) {
                put_own(c, edge, &bound);
                continue;
            }
            put_call(c, edge, named);
            put_position(c, edge->place);
            fprintf(c->out, " %" PRIu64 " %" PRIu64 "\n", edge->weight, edge->error);
        }
        if (bound > 0)
            put_own(c, NULL, &bound);
    }
    free(named);
}

bool write_callgrind(FILE *out, const struct profile *profile,
                     const struct format_options *options) {
    struct format_options by_line = *options;
    struct callgrind c = {.out = out, .addresses = options->by == PROFILE_BY_SITE};
    struct profile *grouped;
    if (by_line.by == PROFILE_BY_FUNCTION)
        by_line.by = PROFILE_BY_LINE;
    grouped = format_select(profile, &by_line);
    call_graph_make(&c.graph, grouped, CALL_GRAPH_OF_FUNCTIONS);
    c.total = profile_total(grouped);
    c.total_error = sum_of_bounds(&c);
    put_header(&c);
    put_costs(&c);
    fprintf(out, "\ntotals: %" PRIu64 " %" PRIu64 "\n", c.total, c.total_error);
    intern_free(&c.objects.table);
    intern_free(&c.files.table);
    free(c.objects.text);
    free(c.files.text);
    call_graph_free(&c.graph);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}
