/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* encoding.c - codes in topological order, the heaviest edge of each function first. */
#include "common/encode/encoding.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/encode/acyclic.h"

static const char what[] = "an encoding of calls";

static void start(struct encoding *e, const struct call_edges *graph) {
    e->nodes = graph->nodes;
    e->edges = graph->edges;
    e->code = memory_new((size_t)e->edges + 1, sizeof *e->code, what);
    e->contexts = memory_new((size_t)e->nodes + 1, sizeof *e->contexts, what);
    e->in = memory_new((size_t)e->edges + 1, sizeof *e->in, what);
    e->in_first = memory_new((size_t)e->nodes + 2, sizeof *e->in_first, what);
    for (uint32_t i = 0; i <= e->edges; i++)
        e->code[i] = ENCODING_NO_CODE;
}

/* The edges that stay, by the function that they lead to, the heaviest first. */
static void group_by_callee(struct encoding *e, const struct call_edges *graph,
                            const struct acyclic *acyclic) {
    uint32_t *first = e->in_first;
    for (uint32_t i = 1; i <= e->edges; i++)
        first[graph->edge[i].callee + 2] += acyclic->stays[i];
    for (uint32_t i = 2; i <= e->nodes + 1; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < e->edges; i++) {
        uint32_t edge = acyclic->by_weight[i];
        if (acyclic->stays[edge])
            e->in[first[graph->edge[edge].callee + 1]++] = edge;
    }
}

/* Edges that find no room in the range are left out, and those that remain move together. */
static void number_edges_to(struct encoding *e, const struct call_edges *graph, uint32_t node,
                            uint32_t *end, uint64_t most) {
    uint64_t sum = 0;
    uint32_t kept = e->in_first[node];
    for (uint32_t i = kept; i < e->in_first[node + 1]; i++) {
        uint32_t edge = e->in[i];
        uint64_t contexts = e->contexts[graph->edge[edge].caller];
        if (contexts > most - sum) {
            e->out_of_range++;
            continue;
        }
        e->code[edge] = sum;
        e->in[kept++] = edge;
        sum += contexts;
    }
    *end = kept;
    e->contexts[node] = sum > 0 ? sum : 1;
    if (e->contexts[node] - 1 > e->max_id)
        e->max_id = e->contexts[node] - 1;
}

/* Closes the gaps that edges out of range have left. */
static void close_gaps(struct encoding *e, const uint32_t *end) {
    uint32_t kept = 0;
    for (uint32_t node = 0; node < e->nodes; node++) {
        uint32_t first = e->in_first[node];
        e->in_first[node] = kept;
        for (uint32_t i = first; i < end[node]; i++)
            e->in[kept++] = e->in[i];
    }
    e->in_first[e->nodes] = kept;
    e->encoded = kept;
}

struct encoding *encoding_make(const struct call_edges *graph, unsigned id_bits) {
    struct encoding *e = memory_new(1, sizeof *e, what);
    struct acyclic acyclic;
    uint32_t *end = memory_new((size_t)graph->nodes + 1, sizeof *end, what);
    start(e, graph);
    acyclic_make(&acyclic, graph);
    group_by_callee(e, graph, &acyclic);
    for (uint32_t i = 0; i < e->nodes; i++)
        number_edges_to(e, graph, acyclic.order[i], &end[acyclic.order[i]], 1ull << (id_bits - 1));
    close_gaps(e, end);
    e->circles = e->edges - e->encoded - e->out_of_range;
    acyclic_free(&acyclic);
    free(end);
    return e;
}

void encoding_free(struct encoding *encoding) {
    if (encoding == NULL)
        return;
    free(encoding->code);
    free(encoding->contexts);
    free(encoding->in);
    free(encoding->in_first);
    free(encoding);
}

uint32_t encoding_last_edge(const struct encoding *encoding, uint32_t node, uint64_t sum) {
    if (node >= encoding->nodes || sum >= encoding->contexts[node])
        return CALL_EDGES_NONE;
    uint32_t low = encoding->in_first[node], high = encoding->in_first[node + 1];
    if (low == high)
        return CALL_EDGES_NONE;
    while (high - low > 1) { /* the last one whose code is not above the sum */
        uint32_t middle = low + (high - low) / 2;
        if (encoding->code[encoding->in[middle]] <= sum)
            low = middle;
        else
            high = middle;
    }
    return encoding->in[low];
}
