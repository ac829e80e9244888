/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dot_choose.h - which vertices and edges of a call graph are drawn: a picture that can be read.
 */
#ifndef HCCT_DOT_CHOOSE_H
#define HCCT_DOT_CHOOSE_H

#include "common/render/call_graph.h"

#define DOT_VERTICES_MAX 80 /* unless a smaller cut than the default asks for more */
/* Of the cut: a lighter edge is drawn only if it is the heaviest to a vertex; twice as much where
 * it steps over something, for there are many of that kind. */
#define DOT_EDGE_CUT 0.5

struct dot_choice {
    bool *vertex, *edge; /* by number: drawn */
    uint32_t n_vertices, n_edges;
    uint32_t small, crowded; /* vertices left out: below the cut, for want of room */
    uint64_t small_self, crowded_self, pruned;
    double least; /* the cut, a share */
};

/* Chooses what has at least the share `cut` of the total, and connects the graph anew by it. Of
 * too many vertices those stay that are processes, or where weight is used or where ways part;
 * PROFILE_PRUNED never does: it is called from everywhere, and is no place in the program. */
void dot_choose(struct dot_choice *choice, struct call_graph *graph, uint64_t total, double cut);
void dot_choice_free(struct dot_choice *choice);

#endif
