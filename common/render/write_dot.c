/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_dot.c - a call graph for graphviz: dot -Tsvg.
 *
 * A box is a function, larger and redder by its self weight; an arrow a call, thicker by what goes
 * through it. What has less than the cut isn't drawn, nor are more boxes than a picture bears; the
 * legend says what is missing. Attributes that begin with hcct_ have names and weights as they are,
 * for programs: graphviz keeps them (dot -Tjson) and gives them no meaning.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/render/dot_choose.h"
#include "common/render/format.h"
#include "common/render/format_number.h"

#define LEGEND_PROCESSES 4
#define NAME_COLUMNS     72 /* of a name in a box; the tooltip has all of it */
#define BREAK_FROM       20 /* columns after which a line of it ends at the next good place ... */
#define BREAK_AT         36 /* ... or anywhere */
#define SHOWN_ERROR      0.0005 /* smaller shares would show as 0.0 */

struct dot {
    FILE *out;
    struct call_graph graph;
    struct dot_choice choice;
    uint64_t total;
    enum profile_by by;
};

static double share(const struct dot *dot, uint64_t weight) {
    return dot->total > 0 ? (double)weight / (double)dot->total : 0;
}

/* ---- strings ---- */

/* Where a string stands: graphviz looks for \N and &lt; and the like in what people see, and twice
 * for \N in tooltips, as of 2.43. */
enum quoting { ATTRIBUTE, LABEL, TOOLTIP };

/* One character of a name within quotes, of so many bytes. */
static void put_character(FILE *out, const char *text, size_t bytes, enum quoting quoting) {
    char byte = *text;
    if (utf8_printable(text) == 0)
        fputc(' ', out);
    else if (byte == '\\' && quoting == TOOLTIP)
        fputs("\\\\\\\\", out);
    else if (byte == '&' && quoting != ATTRIBUTE)
        fputs("&amp;", out);
    else if (byte == '"' || byte == '\\')
        fprintf(out, "\\%c", byte);
    else
        fwrite(text, 1, bytes, out);
}

static void put_name(FILE *out, const char *name, enum quoting quoting) {
    for (size_t n; *name != '\0'; name += n) {
        n = utf8_length(name);
        put_character(out, name, n, quoting);
    }
}

static const char *name_of(const struct call_frame *frame) {
    return *frame->name != '\0' ? frame->name : "???";
}

static void put_raw(const struct dot *dot, const char *key, const char *name) {
    fprintf(dot->out, " %s=\"", key);
    put_name(dot->out, name, ATTRIBUTE);
    fputc('"', dot->out);
}

/* Is what begins at `at`, behind the start of a name, a good place to begin a line? */
static bool may_break(const char *at) {
    return at[-1] == ' ' || at[-1] == ',' || at[-1] == '.' || at[-1] == '/' ||
           (at[-1] == ':' && *at != ':') || *at == '(' || *at == '<' ||
           (*at >= 'A' && *at <= 'Z' && at[-1] >= 'a' && at[-1] <= 'z') ||
           (at[-1] == '_' && *at != '_');
}

/* A name in a box, in lines. */
static void put_wrapped(FILE *out, const char *name) {
    char *text = shorten(name, NAME_COLUMNS, "…");
    size_t column = 0;
    for (const char *at = text; *at != '\0'; column++) {
        size_t bytes = utf8_length(at);
        if (strlen(at) > 4 && ((column >= BREAK_FROM && may_break(at)) || column >= BREAK_AT)) {
            fputs("\\n", out);
            column = 0;
        }
        put_character(out, at, bytes, LABEL);
        at += bytes;
    }
    free(text);
}

/* ---- colours ---- */

struct color {
    double red, green, blue;
};

static void put_color(FILE *out, const char *key, const struct color *scale, double at) {
    const struct color *from = at < 0.5 ? &scale[0] : &scale[1], *to = from + 1;
    double t = at < 0.5 ? at * 2 : at * 2 - 1;
    fprintf(out, " %s=\"#%02x%02x%02x\"", key, (unsigned)(from->red + t * (to->red - from->red)),
            (unsigned)(from->green + t * (to->green - from->green)),
            (unsigned)(from->blue + t * (to->blue - from->blue)));
}

static const struct color fills[] = {{250, 250, 248}, {255, 214, 120}, {240, 96, 72}};
static const struct color arrows[] = {{168, 168, 164}, {150, 96, 64}, {176, 32, 16}};

/* ---- vertices ---- */

/* "3.41 s, 35.4 %". */
static void put_weight(const struct dot *dot, uint64_t weight) {
    fprintf(dot->out, "%s, %.1f %%", format_weight(dot->graph.profile, weight).text,
            100 * share(dot, weight));
}

static const struct profile_location *place_of(const struct dot *dot,
                                               const struct call_vertex *vertex) {
    bool process = vertex->frame >= dot->graph.profile->n_locations;
    return &dot->graph.profile->locations[process ? 0 : vertex->frame];
}

/* Where boxes are grouped by place, the place; `with` stands before it. */
static void put_place(const struct dot *dot, const struct call_vertex *vertex, const char *with) {
    const struct profile_location *place = place_of(dot, vertex);
    const struct call_frame *frame = &dot->graph.frames[vertex->frame];
    uint32_t line = place->n_lines > 0 ? place->lines[0].line : 0;
    if (dot->by == PROFILE_BY_SITE && place->address != 0)
        fprintf(dot->out, "%s0x%" PRIx64, with, place->address);
    else if (dot->by != PROFILE_BY_LINE || line == 0)
        return;
    if (*frame->file != '\0') {
        fputs(dot->by == PROFILE_BY_SITE ? " " : with, dot->out);
        put_name(dot->out, profile_basename(frame->file), LABEL);
        fprintf(dot->out, ":%" PRIu32, line);
    }
}

static void put_box_label(const struct dot *dot, const struct call_vertex *vertex) {
    fputs(" label=\"", dot->out);
    put_wrapped(dot->out, name_of(&dot->graph.frames[vertex->frame]));
    put_place(dot, vertex, "\\n");
    if (vertex->self > 0) {
        fputs("\\nself ", dot->out);
        put_weight(dot, vertex->self);
        if (share(dot, vertex->self_error) >= SHOWN_ERROR)
            fprintf(dot->out, " (+%.1f)", 100 * share(dot, vertex->self_error));
    }
    if (vertex->inclusive != vertex->self) {
        fputs("\\nincl. ", dot->out);
        put_weight(dot, vertex->inclusive);
    }
    fputc('"', dot->out);
}

static void put_box_tooltip(const struct dot *dot, const struct call_vertex *vertex) {
    const struct profile *profile = dot->graph.profile;
    const struct call_frame *frame = &dot->graph.frames[vertex->frame];
    fputs(" tooltip=\"", dot->out);
    put_name(dot->out, name_of(frame), TOOLTIP);
    for (int i = 0; i < 2; i++) {
        const char *line = i == 0 ? frame->object : frame->file;
        if (*line != '\0') {
            fputs("\\n", dot->out);
            put_name(dot->out, line, TOOLTIP);
        }
    }
    fputs("\\nself ", dot->out);
    put_weight(dot, vertex->self);
    fprintf(dot->out, ", at most %s more\\nincl. ",
            format_weight(profile, vertex->self_error).text);
    put_weight(dot, vertex->inclusive);
    fprintf(dot->out, ", at most %s more\"", format_weight(profile, vertex->inclusive_error).text);
}

static void put_vertex(const struct dot *dot, uint32_t number) {
    const struct call_vertex *vertex = &dot->graph.vertices[number];
    const struct call_frame *frame = &dot->graph.frames[vertex->frame];
    bool process = vertex->frame >= dot->graph.profile->n_locations;
    double size = sqrt(share(dot, vertex->self));
    fprintf(dot->out, "  n%" PRIu32 " [", number);
    put_raw(dot, "hcct_function", frame->name);
    put_raw(dot, "hcct_module", frame->object);
    fprintf(dot->out, " hcct_self=%" PRIu64 " hcct_error=%" PRIu64 " hcct_inclusive=%" PRIu64,
            vertex->self, vertex->self_error, vertex->inclusive);
    put_box_label(dot, vertex);
    put_box_tooltip(dot, vertex);
    if (process)
        fputs(" shape=ellipse style=\"filled,bold\"", dot->out);
    else if (profile_is_pseudo(place_of(dot, vertex)))
        fputs(" style=\"filled,dashed\"", dot->out);
    put_color(dot->out, "fillcolor", fills, size);
    fprintf(dot->out, " fontsize=%.0f];\n", 10 + 16 * size);
}

/* ---- edges ---- */

static void put_end(const struct dot *dot, uint32_t vertex) {
    put_name(dot->out, name_of(&dot->graph.frames[dot->graph.vertices[vertex].frame]), TOOLTIP);
}

static void put_edge_tooltips(const struct dot *dot, const struct call_edge *edge) {
    static const char *const keys[] = {"tooltip", "labeltooltip"};
    for (int i = 0; i < 2; i++) {
        fprintf(dot->out, " %s=\"", keys[i]);
        put_end(dot, edge->caller);
        fputs(edge->gap ? " → … → " : " → ", dot->out);
        put_end(dot, edge->callee);
        fputs("\\n", dot->out);
        put_weight(dot, edge->weight);
        fputc('"', dot->out);
    }
}

static void put_edge(const struct dot *dot, const struct call_edge *edge) {
    double part = share(dot, edge->weight);
    fprintf(dot->out, "  n%" PRIu32 " -> n%" PRIu32 " [hcct_weight=%" PRIu64, edge->caller,
            edge->callee, edge->weight);
    fprintf(dot->out, " label=\" %.1f %%%s\"", 100 * part,
            edge->inlined && !edge->gap ? "\\n (inlined)" : "");
    put_edge_tooltips(dot, edge);
    put_color(dot->out, "color", arrows, part);
    fprintf(dot->out, " penwidth=%.1f arrowsize=%.1f weight=%d%s];\n", 0.8 + 5 * part,
            0.6 + 0.4 * part, 1 + (int)(100 * part), edge->gap ? " style=dashed" : "");
}

/* ---- legend ---- */

static void put_process(const struct dot *dot, const struct profile_process *process) {
    put_name(dot->out, process->command, LABEL);
    if (process->pid != 0)
        fprintf(dot->out, " (pid %" PRIu32 ")", process->pid);
    else if (process->runs > 1)
        fprintf(dot->out, " ×%" PRIu32, process->runs);
}

/* The heaviest first. */
static void put_processes(const struct dot *dot) {
    const struct profile *profile = dot->graph.profile;
    const struct tree_view *view = &dot->graph.view;
    uint32_t n = profile->n_processes - 1, shown = n <= LEGEND_PROCESSES ? n : LEGEND_PROCESSES;
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t root = view->child[view->first[0] + i];
        fputs(i > 0 ? ", " : "", dot->out);
        put_process(dot, &profile->processes[profile->nodes[root].process]);
    }
    if (shown < n)
        fprintf(dot->out, " and %" PRIu32 " more", n - shown);
    fputs(n > 0 ? "\\l" : "no process\\l", dot->out);
}

static void put_missing(const struct dot *dot, const char *things) {
    const struct dot_choice *choice = &dot->choice;
    if (choice->small > 0)
        fprintf(dot->out, "not drawn: %" PRIu32 " %s below %g %% incl., of %.1f %% self\\l",
                choice->small, things, 100 * choice->least, 100 * share(dot, choice->small_self));
    if (choice->crowded > 0)
        fprintf(dot->out,
                "not drawn for want of room: %" PRIu32 " more, of %.1f %% self (dashed arrows "
                "pass by them)\\l",
                choice->crowded, 100 * share(dot, choice->crowded_self));
    if (choice->least > 0)
        fprintf(dot->out, "not drawn: arrows below %g %%, dashed ones below %g %%\\l",
                100 * choice->least * DOT_EDGE_CUT, 200 * choice->least * DOT_EDGE_CUT);
    if (choice->pruned > 0)
        fprintf(dot->out, "not drawn: contexts that are not hot (%s), %.1f %%\\l", PROFILE_PRUNED,
                100 * share(dot, choice->pruned));
}

static void put_errors(const struct dot *dot) {
    const struct profile *profile = dot->graph.profile;
    bool *hidden = profile_find_hidden(profile);
    uint64_t sum = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        sum += hidden[i] ? profile->nodes[i].count : 0;
    if (sum > 0)
        fprintf(dot->out, "(+x): so many points more at most; incl. and arrows +%s\\l",
                format_share(share(dot, sum)).text);
    free(hidden);
}

static void put_legend(const struct dot *dot) {
    static const char *const things[] = {
        [PROFILE_BY_FUNCTION] = "functions", [PROFILE_BY_SITE] = "sites",
        [PROFILE_BY_LINE] = "lines",         [PROFILE_BY_MODULE] = "modules",
        [PROFILE_BY_THREAD] = "threads",     [PROFILE_BY_LABEL] = "labels"};
    const struct profile *profile = dot->graph.profile;
    fputs("  legend [shape=note style=filled fillcolor=\"#f4f4f0\" fontsize=14 "
          "tooltip=\"hcct\" label=\"",
          dot->out);
    if (*profile->title != '\0') {
        put_name(dot->out, profile->title, LABEL);
        fputs("\\l", dot->out);
    }
    put_processes(dot);
    fprintf(dot->out, "N = %s ", format_weight(profile, dot->total).text);
    put_name(dot->out, format_type(profile, dot->total), LABEL);
    fprintf(dot->out, ", %" PRIu32 " boxes\\l", dot->choice.n_vertices);
    put_missing(dot, things[dot->by]);
    put_errors(dot);
    fputs("\"];\n", dot->out);
}

/* ---- the graph ---- */

static void put_graph(const struct dot *dot) {
    const struct dot_choice *choice = &dot->choice;
    fputs("digraph hcct {\n", dot->out);
    fprintf(dot->out,
            "  graph [hcct_total=%" PRIu64 " hcct_hidden=%" PRIu64 " hcct_pruned=%" PRIu64
            " tooltip=\" \" ranksep=0.4 nodesep=0.25];\n",
            dot->total, choice->small_self + choice->crowded_self, choice->pruned);
    fputs("  node [shape=box style=filled color=\"#80807c\" margin=\"0.12,0.06\" "
          "fontname=\"Helvetica,Arial,sans-serif\"];\n"
          "  edge [fontname=\"Helvetica,Arial,sans-serif\" fontsize=10 fontcolor=\"#404040\"];\n",
          dot->out);
    put_legend(dot);
    for (uint32_t i = 1; i < dot->graph.n_vertices; i++)
        if (choice->vertex[i])
            put_vertex(dot, i);
    for (uint32_t e = 1; e < dot->graph.n_edges; e++)
        if (choice->edge[e])
            put_edge(dot, &dot->graph.edges[e]);
    fputs("}\n", dot->out);
}

bool write_dot(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct profile *grouped = format_select(profile, options);
    struct dot dot = {.out = out, .total = profile_total(grouped), .by = options->by};
    call_graph_make(&dot.graph, grouped, CALL_GRAPH_OF_PLACES);
    dot_choose(&dot.choice, &dot.graph, dot.total, options->cut);
    put_graph(&dot);
    dot_choice_free(&dot.choice);
    call_graph_free(&dot.graph);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}
