/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * acyclic.h - which edges of a call graph stay when it is to have no circles: the heaviest ones.
 *
 * Edges are taken by their weight, the heaviest first and the older of two equal ones; one that
 * would close a circle with those that were taken before is left out. So each recursion loses its
 * lightest edge. The order of functions is kept up to date edge by edge, as D. Pearce and P. Kelly
 * do (A dynamic topological sort algorithm for directed acyclic graphs, 2007): an edge that fits
 * into the order costs a comparison, another one a search among the functions between its ends.
 */
#ifndef HCCT_ACYCLIC_H
#define HCCT_ACYCLIC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/encode/call_edges.h"

struct acyclic {
    uint32_t *by_weight; /* numbers of all edges, the heaviest first */
    bool *stays;         /* by edge */
    uint32_t *order;     /* functions, each before all that it calls by edges that stay */
};

/* Nothing calls CALL_EDGES_ROOT by an edge that stays. */
void acyclic_make(struct acyclic *acyclic, const struct call_edges *graph);
void acyclic_free(struct acyclic *acyclic);

#endif
