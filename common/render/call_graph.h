/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_graph.h - a profile's contexts merged into a graph of callers and callees.
 *
 * What the formats that know no contexts are made of. Weights are inclusive where that is said: a
 * vertex or an edge that is more than once on a path has the weight of its outermost place only, so
 * that none has more than N. Nothing here calls itself: trees may be deep.
 */
#ifndef HCCT_CALL_GRAPH_H
#define HCCT_CALL_GRAPH_H

#include "common/profile/tree_view.h"

enum call_graph_kind {
    /* A vertex is a location (of a grouped profile: what its --by tells apart). */
    CALL_GRAPH_OF_PLACES,
    /* A vertex is a function at a depth of recursion: f that was called by f is another one, of
     * level 2. Edges are distinguished by the caller's location, too, and the caller's self weight
     * at each location is an edge to nobody (callee 0). */
    CALL_GRAPH_OF_FUNCTIONS,
};

struct call_vertex {
    uint32_t frame;            /* an index of `frames` */
    uint32_t level;            /* 1: not called by its like */
    uint64_t self, self_error; /* what is certain, and how much more it can be */
    uint64_t inclusive, inclusive_error;
};

struct call_edge {
    uint32_t caller, callee; /* vertices */
    uint32_t place;          /* location of the caller; 0 in a graph of places */
    uint32_t contexts;       /* nodes that are merged in it */
    uint64_t weight, error;  /* inclusive; how much more it can be (0: to nobody) */
    uint64_t entered;        /* the callees' self weight: calls, where these are counted */
    uint32_t open;           /* private */
    bool gap;                /* something that isn't kept is between the two */
    bool inlined;            /* wherever it stands, the compiler put the callee into the caller */
};

/* What stands at a node: a location of the profile, or (by n_locations + number) a process. */
struct call_frame {
    const char *object;       /* path of the module, of the executable; "" when there is none */
    const char *name, *file;  /* "" when not known */
    uint32_t identity, alike; /* private */
};

struct call_graph {
    struct profile *profile;
    enum call_graph_kind kind;
    struct tree_view view;
    struct call_frame *frames; /* n_locations + n_processes of them */
    uint32_t *vertex;          /* by node */
    struct call_vertex *vertices;
    struct call_edge *edges; /* sorted by caller, line and address of the place, callee */
    uint32_t n_vertices;     /* number 0 is none */
    uint32_t n_edges;        /* the same */
};

/* The graph of a profile, which it names the processes in and which must live as long as it. All
 * edges are there. */
void call_graph_make(struct call_graph *graph, struct profile *profile, enum call_graph_kind kind);
/* New edges, between the vertices of which `kept` (by vertex) says yes: what was between two of
 * them is stepped over. */
void call_graph_connect(struct call_graph *graph, const bool *kept);
void call_graph_free(struct call_graph *graph);

#endif
