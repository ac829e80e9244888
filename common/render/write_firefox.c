/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_firefox.c - a profile for the Firefox Profiler: its processed format, version 66.
 *
 * Each process is a thread whose samples are contexts, with their weights: for times, milliseconds
 * ("tracing-ms"), else numbers of samples or bytes. The viewer's time axis is weight, too: each
 * context takes up as much of it as it weighs, heaviest path first, so that its stack chart is an
 * icicle. The viewer makes functions one by itself, so contexts are grouped by site, with addresses
 * and lines, where by function was asked for.
 *
 * Tables are columns, one array for each; what they hold is made by firefox_tables.c.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/profile/mark_lines.h"
#include "common/profile/tree_view.h"
#include "common/render/firefox_tables.h"
#include "common/render/format.h"
#include "common/render/format_number.h"
#include "common/render/title.h"
#include "common/wire/compiler.h"

#define FORMAT_VERSION 66
#define GECKO_VERSION  30 /* of the format that the processed one is usually made from */

struct firefox {
    const struct profile *profile; /* grouped; a root has no weight of its own */
    struct json_out json;
    struct tree_view view;
    struct firefox_tables tables;
    uint32_t *preorder; /* nodes of all processes in the order of the time axis, without roots */
    uint32_t *first; /* by process, and one more: its nodes are preorder[first[i] .. first[i+1]) */
    const char *weight_type;
    int exponent; /* of ten: a weight in the viewer's unit */
};

static void choose_unit(struct firefox *f) {
    static const struct unit {
        const char *name, *weight_type;
        int exponent;
    } known[] = {{"nanoseconds", "tracing-ms", -6},
                 {"microseconds", "tracing-ms", -3},
                 {"milliseconds", "tracing-ms", 0},
                 {"seconds", "tracing-ms", 3},
                 {"bytes", "bytes", 0}};

    f->weight_type = "samples";
    for (size_t i = 0; i < HCCT_ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, f->profile->unit) == 0) {
            f->weight_type = known[i].weight_type;
            f->exponent = known[i].exponent;
        }
    }
}

/* ---- samples ---- */

/* Each node before its children, these heaviest first. */
static void make_preorder(struct firefox *f) {
    const struct tree_view *view = &f->view;
    uint32_t *stack = memory_new(f->profile->n_nodes, sizeof *stack, "a path"), n = 0;
    f->preorder = memory_new(f->profile->n_nodes, sizeof *f->preorder, "contexts");
    f->first = memory_new((size_t)f->profile->n_processes + 1, sizeof *f->first, "processes");
    for (uint32_t process = 1; process < f->profile->n_processes; process++) {
        uint32_t depth = 0;
        f->first[process] = n;
        stack[depth++] = profile_root(f->profile, process);
        while (depth > 0) {
            uint32_t node = stack[--depth];
            if (f->profile->nodes[node].parent != 0)
                f->preorder[n++] = node;
            for (uint32_t k = view->first[node + 1]; k > view->first[node]; k--)
                stack[depth++] = view->child[k - 1];
        }
    }
    f->first[f->profile->n_processes] = n;
    free(stack);
}

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT };

static uint32_t put_column(struct firefox *f, uint32_t process, const char *key,
                           enum column column) {
    uint64_t at = 0;
    uint32_t n = 0;

    json_array_member(&f->json, key);
    for (uint32_t k = f->first[process]; k < f->first[process + 1]; k++) {
        const struct profile_node *node = &f->profile->nodes[f->preorder[k]];
        if (node->count == 0)
            continue;
        if (column == COLUMN_STACK)
            json_number(&f->json, f->tables.stack[f->preorder[k]]);
        else
            json_scaled(&f->json, column == COLUMN_TIME ? at : node->count, f->exponent);
        at += node->count;
        n++;
    }
    json_end(&f->json, ']');
    return n;
}

static void put_samples(struct firefox *f, uint32_t process) {
    uint32_t n;
    json_object_member(&f->json, "samples");
    json_string_member(&f->json, "weightType", f->weight_type);
    n = put_column(f, process, "stack", COLUMN_STACK);
    put_column(f, process, "time", COLUMN_TIME);
    put_column(f, process, "weight", COLUMN_WEIGHT);
    json_number_member(&f->json, "length", n);
    json_end(&f->json, '}');
}

static void put_no_markers(struct json_out *json) {
    static const char *const columns[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    json_object_member(json, "markers");
    for (size_t i = 0; i < HCCT_ARRAY_LEN(columns); i++) {
        json_array_member(json, columns[i]);
        json_end(json, ']');
    }
    json_number_member(json, "length", 0);
    json_end(json, '}');
}

/* Threads of one pid would be one process to the viewer: a number that a former process has had, or
 * none (processes merged), gives way to a word. */
static void put_pid(struct firefox *f, uint32_t process) {
    const struct profile_process *processes = f->profile->processes;
    uint32_t pid = processes[process].pid;
    char text[32];
    for (uint32_t i = 1; i < process && pid != 0; i++)
        if (processes[i].pid == pid)
            pid = 0;
    snprintf(text, sizeof text, pid != 0 ? "%u" : "process-%u",
             (unsigned)(pid != 0 ? pid : process));
    json_string_member(&f->json, "pid", text);
    json_string_member(&f->json, "tid", text);
}

static void put_thread(struct firefox *f, uint32_t process) {
    char *title = title_of_process(&f->profile->processes[process]);
    struct json_out *json = &f->json;
    json_begin(json, '{');
    json_string_member(json, "processType", "default");
    json_number_member(json, "processStartupTime", 0);
    json_key(json, "processShutdownTime");
    json_null(json);
    json_number_member(json, "registerTime", 0);
    json_key(json, "unregisterTime");
    json_null(json);
    json_array_member(json, "pausedRanges");
    json_end(json, ']');
    json_string_member(json, "name", f->profile->processes[process].command);
    json_string_member(json, "processName", title);
    json_bool_member(json, "isMainThread", true);
    put_pid(f, process);
    put_samples(f, process);
    put_no_markers(json);
    json_end(json, '}');
    free(title);
}

/* ---- about the profile ---- */

static void put_fact(struct json_out *json, const char *label, const char *text) {
    json_begin(json, '{');
    json_string_member(json, "label", label);
    json_string_member(json, "format", "string");
    json_string_member(json, "value", text);
    json_end(json, '}');
}

static void put_share_fact(struct json_out *json, const char *label, double share) {
    if (share > 0)
        put_fact(json, label, format_share(share).text);
}

/* Not as markers: the time axis is weight, so that a moment has no place on it. */
static void put_marks(struct firefox *f) {
    struct mark_line mark;
    for (const char *text = f->profile->marks; mark_line_next(&text, &mark);) {
        char label[64];
        snprintf(label, sizeof label, "Mark at %.3f s",
                 ((double)mark.time_ns - (double)f->profile->time_ns) / 1e9);
        put_fact(&f->json, label, mark.name);
    }
}

/* What the viewer shows of where a profile comes from. */
static void put_facts(struct firefox *f) {
    const struct profile *profile = f->profile;
    struct title_bound *bounds = title_bounds(profile);
    char *title = title_of_profile(profile);
    json_array_member(&f->json, "extra");
    json_begin(&f->json, '{');
    json_string_member(&f->json, "label", "hcct");
    json_array_member(&f->json, "entries");
    put_fact(&f->json, "Profile", title);
    if (profile->duration_ns > 0)
        put_fact(&f->json, "Elapsed", format_time(profile->duration_ns).text);
    put_share_fact(&f->json, "phi", profile->phi);
    put_share_fact(&f->json, "epsilon", profile->epsilon);
    if (*profile->summary != '\0')
        put_fact(&f->json, "Summary", profile->summary);
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        char *name = title_of_process(&profile->processes[i]);
        char *bound = title_of_bound(profile, i, &bounds[i]), *label;
        if (asprintf(&label, "Bounds of %s", name) < 0)
            memory_die("a title");
        put_fact(&f->json, label, bound);
        free(label);
        free(bound);
        free(name);
    }
    put_marks(f);
    json_end(&f->json, ']');
    json_end(&f->json, '}');
    json_end(&f->json, ']');
    free(title);
    free(bounds);
}

static void put_categories(struct json_out *json) {
    json_array_member(json, "categories");
    for (const struct firefox_category *it = firefox_categories; it->name != NULL; it++) {
        json_begin(json, '{');
        json_string_member(json, "name", it->name);
        json_string_member(json, "color", it->color);
        json_array_member(json, "subcategories");
        json_string(json, "Other");
        json_end(json, ']');
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_product(struct firefox *f) {
    const struct profile *profile = f->profile;
    char *command = title_of_command(profile);

    json_string_member(&f->json, "product", command);
    free(command);
    json_string_member(&f->json, "importedFrom", "hcct " HCCT_VERSION);
    json_key(&f->json, "interval");
    if (f->exponent < 0 && profile->period > 0)
        json_scaled(&f->json, profile->period, f->exponent);
    else
        json_number(&f->json, 1);
    json_key(&f->json, "startTime");
    json_scaled(&f->json, profile->time_ns, -6);
    if (f->view.first[1] > 0) { /* the heaviest process is as long as the time axis */
        json_number_member(&f->json, "profilingStartTime", 0);
        json_key(&f->json, "profilingEndTime");
        json_scaled(&f->json, f->view.inclusive[f->view.child[0]], f->exponent);
    }
}

static void put_meta(struct firefox *f) {
    struct json_out *json = &f->json;
    json_object_member(json, "meta");
    put_product(f);
    json_number_member(json, "preprocessedProfileVersion", FORMAT_VERSION);
    json_number_member(json, "version", GECKO_VERSION);
    json_number_member(json, "processType", 0);
    json_number_member(json, "stackwalk", 1);
    json_bool_member(json, "symbolicated", true);
    json_bool_member(json, "usesOnlyOneStackType", true);
    json_bool_member(json, "sourceCodeIsNotOnSearchfox", true);
    json_bool_member(json, "keepProfileThreadOrder", true);
    json_string_member(json, "platform", "Linux");
    json_array_member(json, "markerSchema");
    json_end(json, ']');
    put_categories(json);
    put_facts(f);
    json_end(json, '}');
}

static void put_file(struct firefox *f) {
    struct json_out *json = &f->json;
    json_begin(json, '{');
    put_meta(f);
    firefox_put_libs(json, &f->tables);
    firefox_put_shared(json, &f->tables);
    json_array_member(json, "threads");
    /* heaviest first, as the viewer keeps the order */
    for (uint32_t k = f->view.first[0]; k < f->view.first[1]; k++)
        put_thread(f, f->profile->nodes[f->view.child[k]].process);
    json_end(json, ']');
    json_end(json, '}');
    fputc('\n', json->out);
}

/* The contexts to be written, none with weight in a root itself. */
static struct profile *select_contexts(const struct profile *profile,
                                       const struct format_options *options) {
    struct format_options finer = *options;
    struct profile *selected, *whole;
    if (options->by == PROFILE_BY_FUNCTION && options->n == 0)
        finer.by = PROFILE_BY_SITE;
    selected = format_select(profile, &finer);
    whole = profile_prune(selected, 0);
    profile_free(selected);
    return whole;
}

bool write_firefox(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct profile *whole = select_contexts(profile, options);
    struct firefox f = {.profile = whole, .json.out = out};
    choose_unit(&f);
    tree_view_make(&f.view, whole);
    make_preorder(&f);
    firefox_tables_make(&f.tables, whole);
    put_file(&f);
    firefox_tables_free(&f.tables);
    free(f.preorder);
    free(f.first);
    tree_view_free(&f.view);
    profile_free(whole);
    return fflush(out) == 0 && !ferror(out);
}
