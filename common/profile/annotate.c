/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate.c - adds up what the contexts say about the lines of functions.
 */
#include "common/profile/annotate.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/tree_view.h"

#define NOT_WANTED UINT32_MAX

/* A frame of the tree: one line of a node's location. */
struct frame {
    uint32_t function; /* of the annotation */
    uint32_t line;
};

struct work {
    struct annotation *to;
    const struct profile *from;
    uint64_t *inclusive; /* by node */
    uint64_t *hidden;    /* by node: of it, in PROFILE_PRUNED frames */
    uint32_t *wanted;    /* by function of the profile: of the annotation, or NOT_WANTED */
    bool *has_wanted;    /* by node: in it, or above */
};

/* ---- which functions ---- */

/* "f(int)" is called f, too; so is "operator()(int)" by what stands before its last list. */
static bool is_called(const char *name, const char *pattern) {
    size_t length = strlen(pattern);
    return strncmp(name, pattern, length) == 0 && (name[length] == '\0' || name[length] == '(');
}

static uint32_t add_function(struct work *w, const struct profile_function *function) {
    struct annotation *to = w->to;
    for (uint32_t i = 0; i < to->n_functions; i++) {
        struct annotate_function *have = &to->functions[i];
        if (strcmp(have->name, function->name) != 0)
            continue;
        if (have->file[0] == '\0')
            have->file = function->file;
        if (function->file[0] == '\0' || strcmp(have->file, function->file) == 0)
            return i;
    }
    to->functions = memory_grow(to->functions, to->n_functions, &to->room_functions,
                                sizeof *to->functions, "functions");
    to->functions[to->n_functions] =
        (struct annotate_function){.name = function->name, .file = function->file};
    return to->n_functions++;
}

static void choose_functions(struct work *w, const char *pattern, bool is_regex) {
    regex_t compiled;

    if (is_regex && regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        memory_die("a regular expression");
    for (uint32_t i = 1; i < w->from->n_functions; i++) {
        const struct profile_function *function = &w->from->functions[i];
        bool wanted = is_regex ? regexec(&compiled, function->name, 0, NULL, 0) == 0
                               : is_called(function->name, pattern);
        w->wanted[i] = wanted ? add_function(w, function) : NOT_WANTED;
    }
    if (is_regex)
        regfree(&compiled);
}

/* ---- lines ---- */

static struct annotate_line *find_line(struct annotate_function *function, uint32_t number) {
    for (uint32_t i = 0; i < function->n_lines; i++)
        if (function->lines[i].line == number)
            return &function->lines[i];
    function->lines = memory_grow(function->lines, function->n_lines, &function->room_lines,
                                  sizeof *function->lines, "lines");
    function->lines[function->n_lines] = (struct annotate_line){.line = number};
    return &function->lines[function->n_lines++];
}

static void add_callee(struct annotate_line *line, const char *name, uint64_t weight) {
    for (uint32_t i = 0; i < line->n_callees; i++)
        if (strcmp(line->callees[i].name, name) == 0) {
            line->callees[i].weight += weight;
            return;
        }
    line->callees = memory_grow(line->callees, line->n_callees, &line->room_callees,
                                sizeof *line->callees, "callees");
    line->callees[line->n_callees++] = (struct annotate_callee){name, weight};
}

/* Frame k of a node, 0 the innermost. A routine as a whole has the line of its declaration, where
 * nothing of its weight is. */
static struct frame frame_of(const struct work *w, uint32_t node, uint32_t k) {
    const struct profile_location *place = &w->from->locations[w->from->nodes[node].location];
    return (struct frame){w->wanted[place->lines[k].function],
                          place->is_entry || place->routine != 0 ? 0 : place->lines[k].line};
}

static uint32_t n_frames(const struct work *w, uint32_t node) {
    return w->from->locations[w->from->nodes[node].location].n_lines;
}

/* Is the function (any_line), or this line of it, above frame k of the node already? */
static bool is_above(const struct work *w, uint32_t node, uint32_t k, struct frame frame,
                     bool any_line) {
    for (k++; node != 0 && w->has_wanted[node]; node = w->from->nodes[node].parent, k = 0)
        for (; k < n_frames(w, node); k++) {
            struct frame other = frame_of(w, node, k);
            if (other.function == frame.function && (any_line || other.line == frame.line))
                return true;
        }
    return false;
}

/* What frame k of the node is in the middle of calling weighs for its line. */
static void credit_caller(struct work *w, uint32_t node, uint32_t k, const char *callee,
                          uint64_t weight) {
    struct frame frame = frame_of(w, node, k);
    if (frame.function != NOT_WANTED && !is_above(w, node, k, frame, false))
        add_callee(find_line(&w->to->functions[frame.function], frame.line), callee, weight);
}

static void credit_frame(struct work *w, uint32_t node, uint32_t k) {
    struct frame frame = frame_of(w, node, k);
    uint64_t own = k == 0 ? w->from->nodes[node].count : 0;
    if (frame.function == NOT_WANTED)
        return;
    struct annotate_function *function = &w->to->functions[frame.function];
    struct annotate_line *line = find_line(function, frame.line);

    function->self += own;
    line->self += own;
    if (!is_above(w, node, k, frame, true)) {
        function->inclusive += w->inclusive[node];
        function->hidden += w->hidden[node];
    }
    if (!is_above(w, node, k, frame, false)) {
        line->inclusive += w->inclusive[node];
        line->hidden += w->hidden[node];
    }
}

static void credit_node(struct work *w, uint32_t node) {
    const struct profile *from = w->from;
    const struct profile_location *place = &from->locations[from->nodes[node].location];
    uint32_t parent = from->nodes[node].parent;
    w->has_wanted[node] = w->has_wanted[parent];
    for (uint32_t k = 0; k < place->n_lines; k++)
        w->has_wanted[node] |= w->wanted[place->lines[k].function] != NOT_WANTED;
    if (!w->has_wanted[node])
        return;
    for (uint32_t k = place->n_lines; k-- > 0;) {
        const char *name = from->functions[place->lines[k].function].name;
        if (k + 1 < place->n_lines)
            credit_caller(w, node, k + 1, name, w->inclusive[node]);
        else if (n_frames(w, parent) > 0)
            credit_caller(w, parent, 0, name, w->inclusive[node]);
        credit_frame(w, node, k);
    }
}

/* ---- order ---- */

static int by_number(const void *a, const void *b) {
    const struct annotate_line *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int by_weight(const void *a, const void *b) {
    const struct annotate_callee *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_inclusive(const void *a, const void *b) {
    const struct annotate_function *x = a, *y = b;
    if (x->inclusive != y->inclusive)
        return x->inclusive > y->inclusive ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void put_in_order(struct annotation *annotation) {
    for (uint32_t i = 0; i < annotation->n_functions; i++) {
        struct annotate_function *function = &annotation->functions[i];
        for (uint32_t k = 0; k < function->n_lines; k++)
            if (function->lines[k].n_callees > 0)
                qsort(function->lines[k].callees, function->lines[k].n_callees,
                      sizeof *function->lines[k].callees, by_weight);
        if (function->n_lines > 0)
            qsort(function->lines, function->n_lines, sizeof *function->lines, by_number);
    }
    if (annotation->n_functions > 0)
        qsort(annotation->functions, annotation->n_functions, sizeof *annotation->functions,
              by_inclusive);
}

/* ---- bounds ---- */

/* As of locations (bounds_flat): what stands in a PROFILE_PRUNED frame may have been called by any
 * function, but what a line has of it for certain; where the innermost function is not known it may
 * be any function's own. */
static void find_bounds(struct work *w) {
    struct annotation *to = w->to;
    for (uint32_t i = 1; i < w->from->n_nodes; i++)
        if (profile_is_pruned(w->from, w->from->nodes[i].location))
            to->unknown += w->from->nodes[i].count;
    for (uint32_t i = 0; i < to->n_functions; i++) {
        struct annotate_function *function = &to->functions[i];
        function->more = w->hidden[0] - function->hidden;
        for (uint32_t k = 0; k < function->n_lines; k++)
            function->lines[k].more = w->hidden[0] - function->lines[k].hidden;
    }
}

/* ---- for all ---- */

void annotation_make(struct annotation *annotation, const struct profile *profile,
                     const char *pattern, bool is_regex) {
    struct work w = {.to = annotation, .from = profile};
    *annotation = (struct annotation){.profile = profile, .total = profile_total(profile)};
    w.inclusive = tree_inclusive(profile);
    w.hidden = bounds_hidden(profile, w.inclusive);
    w.wanted = memory_new(profile->n_functions, sizeof *w.wanted, "functions");
    w.has_wanted = memory_new(profile->n_nodes, sizeof *w.has_wanted, "contexts");
    w.wanted[0] = NOT_WANTED;
    choose_functions(&w, pattern, is_regex);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        credit_node(&w, i);
    find_bounds(&w);
    put_in_order(annotation);
    free(w.inclusive);
    free(w.hidden);
    free(w.wanted);
    free(w.has_wanted);
}

void annotation_free(struct annotation *annotation) {
    for (uint32_t i = 0; i < annotation->n_functions; i++) {
        struct annotate_function *function = &annotation->functions[i];
        for (uint32_t k = 0; k < function->n_lines; k++)
            free(function->lines[k].callees);
        free(function->lines);
    }
    free(annotation->functions);
    *annotation = (struct annotation){0};
}
