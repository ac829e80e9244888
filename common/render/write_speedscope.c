/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_speedscope.c - a profile in speedscope's own format, for www.speedscope.app or a copy of
 * it.
 *
 * One evented profile for each process: the tree as nested calls, whose time axis is weight, so
 * that the viewer's time order is heaviest first and the last event stands at N of that process.
 * (Sampled profiles would repeat the whole path of each context.) Where weights have an error, each
 * process has a second profile, whose weights are the error bounds of self weights; its title has
 * the largest bound of an inclusive one.
 *
 * Weights are integers with all their digits, though the viewer keeps 53 bits of them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"
#include "common/render/title.h"
#include "common/wire/compiler.h"

/* Bounds of inclusive weights overlap: no tree of calls can have them. */
#define ERROR_BOUNDS "error bounds of self weights (their totals mean nothing)"
#define SCHEMA       "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
    const struct profile *profile; /* grouped */
    struct json_out json;
    struct tree_view view;
    uint64_t *errors;   /* inclusive, by node */
    uint32_t *path;     /* room for the deepest path */
    uint32_t *position; /* by depth: the next child of the path's node */
};

/* What a profile's axis measures: weights, or their errors. */
struct axis {
    const uint64_t *inclusive;
    bool of_errors;
};

static const char *unit(const struct profile *profile) {
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds",
                                        "bytes"};

    for (size_t i = 0; i < HCCT_ARRAY_LEN(known); i++)
        if (strcmp(known[i], profile->unit) == 0)
            return known[i];
    return "none";
}

/* Where the source file isn't known, the module stands for it. */
static void put_frame(struct speedscope *s, const struct profile_location *place) {
    const struct profile_line *line = &place->lines[0];
    const struct profile_function *function = &s->profile->functions[line->function];
    const char *file =
        *function->file != '\0' ? function->file : s->profile->modules[place->module].path;
    uint32_t number = line->line != 0 ? line->line : function->start_line;
    json_begin(&s->json, '{');
    json_string_member(&s->json, "name", function->name);
    if (*file != '\0')
        json_string_member(&s->json, "file", file);
    if (*function->file != '\0' && number != 0)
        json_number_member(&s->json, "line", number);
    json_end(&s->json, '}');
}

static void put_event(struct speedscope *s, const char *type, uint32_t node, uint64_t at) {
    json_begin(&s->json, '{');
    json_string_member(&s->json, "type", type);
    json_number_member(&s->json, "frame", s->profile->nodes[node].location - 1);
    json_number_member(&s->json, "at", at);
    json_end(&s->json, '}');
}

/* The tree below a root. A node's self weight comes first, then its children, heaviest first. */
static void put_events(struct speedscope *s, uint32_t root, const struct axis *axis) {
    const struct profile_node *nodes = s->profile->nodes;
    uint32_t depth = 0;
    uint64_t at = 0;
    s->path[0] = root;
    s->position[0] = s->view.first[root];
    for (;;) {
        uint32_t node = s->path[depth], child;
        if (s->position[depth] == s->view.first[node + 1]) {
            if (depth-- == 0)
                return;
            put_event(s, "C", node, at);
            continue;
        }
        child = s->view.child[s->position[depth]++];
        if (axis->inclusive[child] == 0)
            continue;
        put_event(s, "O", child, at);
        at += axis->of_errors ? nodes[child].error : nodes[child].count;
        s->path[++depth] = child;
        s->position[depth] = s->view.first[child];
    }
}

/* Of the tree below a process's root; of nothing below node 0 where there is no process. */
static void put_profile(struct speedscope *s, uint32_t root, const char *name,
                        const struct axis *axis) {
    json_begin(&s->json, '{');
    json_string_member(&s->json, "type", "evented");
    json_string_member(&s->json, "name", name);
    json_string_member(&s->json, "unit", unit(s->profile));
    json_number_member(&s->json, "startValue", 0);
    json_number_member(&s->json, "endValue", axis->inclusive[root]);
    json_array_member(&s->json, "events");
    put_events(s, root, axis);
    json_end(&s->json, ']');
    json_end(&s->json, '}');
}

static void put_named(struct speedscope *s, uint32_t process, const struct axis *axis,
                      const char *between, const char *rest) {
    char *name = title_of_process(&s->profile->processes[process]), *whole;
    if (asprintf(&whole, "%s%s%s", name, between, rest) < 0)
        memory_die("a title");
    put_profile(s, profile_root(s->profile, process), whole, axis);
    free(whole);
    free(name);
}

/* Heaviest process first, then all errors in the same order. What was never seen at work is left
 * out, unless there is nothing else. */
static void put_profiles(struct speedscope *s) {
    const struct axis weights = {.inclusive = s->view.inclusive};
    const struct axis errors = {.inclusive = s->errors, .of_errors = true};
    struct title_bound *bounds = title_bounds(s->profile);
    const struct tree_view *view = &s->view;
    for (uint32_t k = view->first[0]; k < view->first[1]; k++) {
        uint32_t process = s->profile->nodes[view->child[k]].process;
        char *bound = title_of_bound(s->profile, process, &bounds[process]);
        if (s->view.inclusive[view->child[k]] > 0 || k == view->first[0])
            put_named(s, process, &weights, ", ", bound);
        free(bound);
    }
    for (uint32_t k = view->first[0]; k < view->first[1]; k++)
        if (s->errors[view->child[k]] > 0)
            put_named(s, s->profile->nodes[view->child[k]].process, &errors, ": ", ERROR_BOUNDS);
    if (view->first[0] == view->first[1]) /* the viewer can't do without one */
        put_profile(s, 0, "no process", &weights);
    free(bounds);
}

static void put_file(struct speedscope *s) {
    struct json_out *json = &s->json;
    char *title = title_of_profile(s->profile);
    json_begin(json, '{');
    json_string_member(json, "$schema", SCHEMA);
    json_string_member(json, "exporter", "hcct " HCCT_VERSION);
    json_string_member(json, "name", title);
    json_number_member(json, "activeProfileIndex", 0);
    json_object_member(json, "shared");
    json_array_member(json, "frames");
    for (uint32_t i = 1; i < s->profile->n_locations; i++)
        put_frame(s, &s->profile->locations[i]);
    json_end(json, ']');
    json_end(json, '}');
    json_array_member(json, "profiles");
    put_profiles(s);
    json_end(json, ']');
    json_end(json, '}');
    fputc('\n', json->out);
    free(title);
}

static uint64_t *inclusive_errors(const struct profile *profile) {
    uint64_t *errors = memory_new(profile->n_nodes, sizeof *errors, "errors");
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        errors[i] += profile->nodes[i].error;
        if (profile->nodes[i].parent != 0)
            errors[profile->nodes[i].parent] += errors[i];
    }
    return errors;
}

bool write_speedscope(FILE *out, const struct profile *profile,
                      const struct format_options *options) {
    struct profile *selected = format_select(profile, options);
    /* what a root itself weighs needs a frame, too */
    struct profile *whole = profile_prune(selected, 0);
    struct speedscope s = {.profile = whole, .json.out = out};

    profile_free(selected);
    tree_view_make(&s.view, whole);
    s.errors = inclusive_errors(whole);
    s.path = memory_new(whole->n_nodes, sizeof *s.path, "a path");
    s.position = memory_new(whole->n_nodes, sizeof *s.position, "a path");
    put_file(&s);
    free(s.path);
    free(s.position);
    free(s.errors);
    tree_view_free(&s.view);
    profile_free(whole);
    return fflush(out) == 0 && !ferror(out);
}
