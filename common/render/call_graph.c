/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_graph.c - two walks through the tree, in depth: the first merges nodes into vertices, the
 * second their links into edges. What is open on the way down is counted, so that weight under two
 * nodes of one vertex (recursion) is taken once.
 */
#include "common/render/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/base/intern.h"
#include "common/render/pprof_comments.h"

/* ---- a walk in depth ---- */

struct walk {
    const struct call_graph *graph;
    uint32_t *next; /* by node: its next child, in the view */
    uint32_t at;
};

static void walk_begin(struct walk *walk, const struct call_graph *graph) {
    uint32_t n = graph->profile->n_nodes;
    *walk = (struct walk){.graph = graph, .next = memory_new(n, sizeof *walk->next, "a tree")};
    memcpy(walk->next, graph->view.first, n * sizeof *walk->next);
}

/* The node that is entered, or left, as *enters says; 0 at the end. */
static uint32_t walk_step(struct walk *walk, bool *enters) {
    uint32_t at = walk->at;
    *enters = walk->next[at] < walk->graph->view.first[at + 1];
    walk->at = *enters ? walk->graph->view.child[walk->next[at]++]
                       : walk->graph->profile->nodes[at].parent;
    return *enters ? walk->at : at;
}

/* ---- frames ---- */

static uint32_t frame_of(const struct call_graph *graph, uint32_t node) {
    const struct profile_node *it = &graph->profile->nodes[node];
    return it->parent == 0 ? graph->profile->n_locations + it->process : it->location;
}

/* Strings of a profile are equal when their addresses are. */
static bool same_function(const void *entries, uint32_t i, const void *key) {
    const struct call_frame *have = &((const struct call_frame *)entries)[i], *want = key;
    return have->name == want->name && have->file == want->file && have->object == want->object;
}

static bool same_name(const void *entries, uint32_t i, const void *key) {
    const struct call_frame *have = &((const struct call_frame *)entries)[i], *want = key;
    return have->name == want->name && have->file == want->file;
}

static bool same_symbol(const void *entries, uint32_t i, const void *key) {
    const struct call_frame *have = &((const struct call_frame *)entries)[i], *want = key;
    return have->name == want->name && have->object == want->object;
}

static uint64_t hash_frame(const struct call_frame *frame, bool object, bool file) {
    uint64_t hash = seeded_hash(0, (uintptr_t)frame->name);
    hash = object ? seeded_hash(hash, (uintptr_t)frame->object) : hash;
    return file ? seeded_hash(hash, (uintptr_t)frame->file) : hash;
}

/* The first frame that `equal` says is the same: the number by which they are one. */
static uint32_t first_like(struct intern *table, const struct call_graph *graph, uint32_t i,
                           intern_equal *equal) {
    const struct call_frame *frame = &graph->frames[i];
    uint64_t hash = hash_frame(frame, equal != same_name, equal != same_symbol);
    uint32_t *slot = intern_find(table, hash, equal, graph->frames, frame);
    return *slot = *slot != 0 ? *slot : i;
}

static void name_frames(struct call_graph *graph) {
    struct profile *profile = graph->profile;
    const char *none = profile_string(profile, NULL);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        const struct profile_function *function =
            &profile->functions[place->n_lines > 0 ? place->lines[0].function : 0];
        const char *name =
            place->n_lines > 0 ? function->name : profile_place_name(profile, profile, place);
        graph->frames[i].object = profile_string(profile, profile->modules[place->module].path);
        graph->frames[i].name = profile_string(profile, name);
        graph->frames[i].file = place->n_lines > 0 ? profile_string(profile, function->file) : none;
    }
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        struct call_frame *frame = &graph->frames[profile->n_locations + i];
        char *label = comment_process_label(profile, i);
        frame->object = profile_string(profile, profile->processes[i].exe);
        frame->name = profile_string(profile, label);
        frame->file = none;
        free(label);
    }
}

/* The symbol table knows a function's name, debug information its file as well: of functions, the
 * one without a file is the one of its name that has one. */
static void find_files(struct call_graph *graph) {
    struct intern by_symbol = {0};
    for (uint32_t i = 1; i < graph->profile->n_locations; i++)
        if (*graph->frames[i].file != '\0')
            first_like(&by_symbol, graph, i, same_symbol);
    for (uint32_t i = 1; i < graph->profile->n_locations; i++)
        if (*graph->frames[i].file == '\0')
            graph->frames[i].file =
                graph->frames[first_like(&by_symbol, graph, i, same_symbol)].file;
    intern_free(&by_symbol);
}

static void make_frames(struct call_graph *graph) {
    uint32_t n = graph->profile->n_locations + graph->profile->n_processes;
    struct intern functions = {0}, names = {0};
    graph->frames = memory_new(n, sizeof *graph->frames, "functions");
    name_frames(graph);
    if (graph->kind == CALL_GRAPH_OF_FUNCTIONS)
        find_files(graph);
    for (uint32_t i = 1; i < n; i++) {
        struct call_frame *frame = &graph->frames[i];
        frame->identity = frame->alike = i;
        if (frame->name == NULL || graph->kind == CALL_GRAPH_OF_PLACES)
            continue;
        frame->identity = first_like(&functions, graph, i, same_function);
        frame->alike = first_like(&names, graph, i, same_name);
    }
    intern_free(&functions);
    intern_free(&names);
}

/* ---- vertices ---- */

static bool same_vertex(const void *entries, uint32_t i, const void *key) {
    const struct call_vertex *have = &((const struct call_vertex *)entries)[i], *want = key;
    return have->frame == want->frame && have->level == want->level;
}

struct vertices {
    struct call_graph *graph;
    struct intern table;
    uint32_t room;
    uint32_t *open;   /* by `alike` of frames: how many are open */
    uint64_t *hidden; /* by node, as bounds_hidden has it */
};

static uint32_t find_vertex(struct vertices *v, uint32_t node) {
    struct call_graph *graph = v->graph;
    const struct call_frame *frame = &graph->frames[frame_of(graph, node)];
    struct call_vertex vertex = {.frame = frame->identity, .level = 1};
    uint32_t *slot;
    if (graph->kind == CALL_GRAPH_OF_FUNCTIONS)
        vertex.level += v->open[frame->alike];
    slot = intern_find(&v->table, seeded_hash(vertex.frame, vertex.level), same_vertex,
                       graph->vertices, &vertex);
    if (*slot == 0) {
        graph->vertices =
            memory_grow(graph->vertices, graph->n_vertices, &v->room, sizeof vertex, "functions");
        graph->vertices[graph->n_vertices] = vertex;
        *slot = graph->n_vertices++;
    }
    return *slot;
}

static void enter_vertex(struct vertices *v, uint32_t node) {
    struct call_graph *graph = v->graph;
    const struct profile_node *it = &graph->profile->nodes[node];
    uint32_t *open = &v->open[graph->frames[frame_of(graph, node)].alike];
    struct call_vertex *vertex;
    graph->vertex[node] = find_vertex(v, node);
    vertex = &graph->vertices[graph->vertex[node]];
    vertex->self += it->count;
    if (*open == 0 || graph->kind == CALL_GRAPH_OF_FUNCTIONS) {
        vertex->inclusive += graph->view.inclusive[node];
        vertex->inclusive_error -= v->hidden[node]; /* from what is hidden in all: see below */
    }
    ++*open;
}

static bool is_pruned(const struct call_graph *graph, const struct call_vertex *vertex) {
    return vertex->frame < graph->profile->n_locations &&
           profile_is_pruned(graph->profile, vertex->frame);
}

/* All that is hidden and not below a function may belong below it; its self weight, what has no
 * known leaf. A profile that was cut for display knows better (profile.h). */
static void bound_vertices(struct call_graph *graph, uint64_t hidden) {
    const struct profile *profile = graph->profile;
    uint64_t unknown = 0;
    for (uint32_t i = 1; i < graph->n_vertices; i++)
        if (is_pruned(graph, &graph->vertices[i]))
            unknown += graph->vertices[i].self;
    for (uint32_t i = 1; i < graph->n_vertices; i++) {
        struct call_vertex *vertex = &graph->vertices[i];
        bool is_process = vertex->frame >= profile->n_locations;
        vertex->self_error = unknown;
        vertex->inclusive_error += hidden;
        if (is_process || is_pruned(graph, vertex)) {
            vertex->self_error = vertex->inclusive_error = 0;
        } else if (profile->flat != NULL && graph->kind == CALL_GRAPH_OF_PLACES) {
            vertex->self_error = profile->flat[vertex->frame].self_upper - vertex->self;
            vertex->inclusive_error = profile->flat[vertex->frame].upper - vertex->inclusive;
        }
    }
}

static void make_vertices(struct call_graph *graph) {
    uint32_t n = graph->profile->n_locations + graph->profile->n_processes, node;
    struct vertices v = {.graph = graph,
                         .open = memory_new(n, sizeof *v.open, "functions"),
                         .hidden = bounds_hidden(graph->profile, graph->view.inclusive)};
    struct walk walk;
    bool enters;
    graph->vertex = memory_new(graph->profile->n_nodes, sizeof *graph->vertex, "contexts");
    graph->vertices = memory_grow(NULL, 0, &v.room, sizeof *graph->vertices, "functions");
    graph->vertices[0] = (struct call_vertex){0};
    graph->n_vertices = 1;
    walk_begin(&walk, graph);
    while ((node = walk_step(&walk, &enters)) != 0) {
        if (enters)
            enter_vertex(&v, node);
        else
            v.open[graph->frames[frame_of(graph, node)].alike]--;
    }
    bound_vertices(graph, v.hidden[0]);
    free(walk.next);
    free(v.open);
    free(v.hidden);
    intern_free(&v.table);
}

/* ---- edges ---- */

struct edges {
    struct call_graph *graph;
    const bool *kept; /* NULL: all */
    struct intern table;
    uint32_t room;
    uint32_t *edge;   /* by node: the edge to it, 0: none */
    uint32_t *anchor; /* by node: itself or the nearest one above that is kept; 0: none is */
    uint64_t *hidden; /* by node, as bounds_hidden has it */
};

static bool same_edge(const void *entries, uint32_t i, const void *key) {
    const struct call_edge *have = &((const struct call_edge *)entries)[i], *want = key;
    return have->caller == want->caller && have->callee == want->callee &&
           have->place == want->place;
}

/* An edge without weight yet, when it is new. */
static uint32_t find_edge(struct edges *e, uint32_t caller, uint32_t callee, uint32_t place) {
    struct call_graph *graph = e->graph;
    struct call_edge edge = {.caller = caller, .callee = callee, .inlined = true};
    uint32_t *slot;
    if (graph->kind == CALL_GRAPH_OF_FUNCTIONS)
        edge.place = place;
    slot = intern_find(&e->table, seeded_hash(seeded_hash(caller, callee), edge.place), same_edge,
                       graph->edges, &edge);
    if (*slot == 0) {
        graph->edges = memory_grow(graph->edges, graph->n_edges, &e->room, sizeof edge, "calls");
        graph->edges[graph->n_edges] = edge;
        *slot = graph->n_edges++;
    }
    return *slot;
}

static void add_own(struct edges *e, uint32_t node) {
    const struct profile_node *it = &e->graph->profile->nodes[node];
    uint32_t number = find_edge(e, e->graph->vertex[node], 0, it->location);
    struct call_edge *edge = &e->graph->edges[number];
    edge->contexts++;
    edge->weight += it->count;
}

static void add_call(struct edges *e, uint32_t caller, uint32_t node) {
    const struct call_graph *graph = e->graph;
    const struct profile_node *nodes = graph->profile->nodes;
    struct call_edge *edge;
    e->edge[node] =
        find_edge(e, graph->vertex[caller], graph->vertex[node], nodes[caller].location);
    edge = &graph->edges[e->edge[node]];
    edge->contexts++;
    edge->entered += nodes[node].count;
    edge->gap |= caller != nodes[node].parent;
    edge->inlined &= nodes[node].inlined;
    if (edge->open++ == 0) {
        edge->weight += graph->view.inclusive[node];
        edge->error -= e->hidden[node]; /* from what is hidden in all, below */
    }
}

static void enter_edge(struct edges *e, uint32_t node) {
    const struct call_graph *graph = e->graph;
    const struct profile_node *it = &graph->profile->nodes[node];
    uint32_t above = e->anchor[it->parent];
    e->anchor[node] = above;
    if (e->kept != NULL && !e->kept[graph->vertex[node]])
        return;
    e->anchor[node] = node;
    if (graph->kind == CALL_GRAPH_OF_FUNCTIONS && it->count > 0)
        add_own(e, node);
    if (above != 0)
        add_call(e, above, node);
}

static int compare_edges(const void *a, const void *b, void *arg) {
    const struct profile *profile = ((const struct call_graph *)arg)->profile;
    const struct call_edge *x = a, *y = b;
    const struct profile_location *px = &profile->locations[x->place];
    const struct profile_location *py = &profile->locations[y->place];
    uint32_t line_x = px->n_lines > 0 ? px->lines[0].line : 0;
    uint32_t line_y = py->n_lines > 0 ? py->lines[0].line : 0;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (line_x != line_y)
        return line_x < line_y ? -1 : 1;
    if (px->address != py->address)
        return px->address < py->address ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void call_graph_connect(struct call_graph *graph, const bool *kept) {
    uint32_t n = graph->profile->n_nodes, node;
    struct edges e = {.graph = graph,
                      .kept = kept,
                      .edge = memory_new(n, sizeof *e.edge, "calls"),
                      .anchor = memory_new(n, sizeof *e.anchor, "calls"),
                      .hidden = bounds_hidden(graph->profile, graph->view.inclusive)};
    struct walk walk;
    bool enters;
    free(graph->edges);
    graph->edges = memory_grow(NULL, 0, &e.room, sizeof *graph->edges, "calls");
    graph->edges[0] = (struct call_edge){0};
    graph->n_edges = 1;
    walk_begin(&walk, graph);
    while ((node = walk_step(&walk, &enters)) != 0) {
        if (enters)
            enter_edge(&e, node);
        else if (e.edge[node] != 0)
            graph->edges[e.edge[node]].open--;
    }
    for (uint32_t i = 1; i < graph->n_edges; i++)
        if (graph->edges[i].callee != 0)
            graph->edges[i].error += e.hidden[0];
    qsort_r(graph->edges + 1, graph->n_edges - 1, sizeof *graph->edges, compare_edges, graph);
    free(walk.next);
    free(e.edge);
    free(e.anchor);
    free(e.hidden);
    intern_free(&e.table);
}

void call_graph_make(struct call_graph *graph, struct profile *profile, enum call_graph_kind kind) {
    *graph = (struct call_graph){.profile = profile, .kind = kind};
    make_frames(graph); /* may add strings to the profile, nothing else */
    tree_view_make(&graph->view, profile);
    make_vertices(graph);
    call_graph_connect(graph, NULL);
}

void call_graph_free(struct call_graph *graph) {
    tree_view_free(&graph->view);
    free(graph->frames);
    free(graph->vertex);
    free(graph->vertices);
    free(graph->edges);
}
