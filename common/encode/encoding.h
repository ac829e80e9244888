/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encoding.h - numbers for calls, so that their sum along a path is a number for the path.
 *
 * After T. Ball and J. Larus (Efficient path profiling, 1996), W. Sumner et al. (Precise calling
 * context encoding, 2010) and J. Li et al. (Dynamic and adaptive calling context encoding, 2014).
 * Of the edges that keep the call graph free of circles (acyclic.h), those that lead to one
 * function have the codes 0, c1, c1 + c2, ..., where c1, c2, ... are the numbers of contexts of
 * their callers; so the sum of the codes along a path is below the number of contexts of the
 * function at its end, and no two paths from the root to a function have the same sum. The heaviest
 * edge to a function has the code 0: a call by it changes nothing.
 *
 * An edge has no code where it closes a circle, where the numbers would leave their range, or where
 * it was found later. Calls by such an edge go through a stack (context.h).
 *
 * An encoding is a dictionary of its time, and does not change. It needs the edges of the graph, as
 * a graph keeps them, but not their weights.
 */
#ifndef HCCT_ENCODING_H
#define HCCT_ENCODING_H

#include <stdint.h>

#include "common/encode/call_edges.h"

#define ENCODING_NO_CODE UINT64_MAX

struct encoding {
    uint64_t max_id;       /* the largest sum of codes */
    uint32_t nodes, edges; /* of the graph at that time, as it counts them */
    uint32_t encoded;      /* edges with a code */
    uint32_t circles;      /* edges without, as they close a circle ... */
    uint32_t out_of_range; /* ... or as the numbers would leave their range */
    uint64_t *code;        /* by edge; ENCODING_NO_CODE */
    uint64_t *contexts;    /* by function: numbers of its contexts are below that */
    uint32_t *in;          /* edges with a code: for each function those to it, by their code ... */
    uint32_t *in_first;    /* ... from here on, by function, up to where the next one's begin */
};

/* Ids have so many bits, 2 to 64: half of their range is for sums of codes (context.h). */
struct encoding *encoding_make(const struct call_edges *graph, unsigned id_bits);
void encoding_free(struct encoding *encoding);

static inline uint64_t encoding_code(const struct encoding *encoding, uint32_t edge) {
    return edge <= encoding->edges ? encoding->code[edge] : ENCODING_NO_CODE;
}

/* The last edge of the path to `node` with that sum of codes; CALL_EDGES_NONE: there is none. */
uint32_t encoding_last_edge(const struct encoding *encoding, uint32_t node, uint64_t sum);

#endif
