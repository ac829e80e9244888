/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_edges.h - the calls that a program has made so far: functions, and edges between them.
 *
 * A function is a number that the caller of this file gives; CALL_EDGES_ROOT stands for what has
 * called a thread's outermost function. An edge is a call site in one function that has led to
 * another: a site that leads to several functions has an edge for each. Edges are numbered from 1
 * on in the order in which they were found, and keep their numbers; only weights change.
 *
 * Not locked. Without memory the program ends (memory.h).
 */
#ifndef HCCT_CALL_EDGES_H
#define HCCT_CALL_EDGES_H

#include <stdint.h>

#include "common/base/intern.h"

#define CALL_EDGES_ROOT 0u
#define CALL_EDGES_NONE 0u /* no edge has this number */

struct call_edge {
    uint32_t caller, callee;
    uint64_t site;
    uint64_t weight; /* how often it is called, by what was seen of late */
};

/* All zero is an empty graph. */
struct call_edges {
    struct call_edge *edge; /* by number; edge[0] is none */
    uint32_t edges;         /* the highest number */
    uint32_t nodes;         /* one more than the highest function's number */
    uint32_t room;
    struct intern index;
};

/* The number of an edge, which is made when it is new, with weight 0. */
uint32_t call_edges_number(struct call_edges *graph, uint32_t caller, uint64_t site,
                           uint32_t callee);

void call_edges_free(struct call_edges *graph);

#endif
