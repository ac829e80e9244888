/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* call_edges.c - edges in the order of their discovery, and a table to find them by. */
#include "common/encode/call_edges.h"

#include <stdlib.h>

#include "common/base/memory.h"

static bool is_edge(const void *entries, uint32_t number, const void *key) {
    const struct call_edge *edge = (const struct call_edge *)entries + number;
    const struct call_edge *asked = key;
    return edge->caller == asked->caller && edge->site == asked->site &&
           edge->callee == asked->callee;
}

static void make_room(struct call_edges *graph) {
    uint32_t used = graph->edges + 1;
    if (used < graph->room)
        return;
    graph->edge =
        memory_grow(graph->edge, used, &graph->room, sizeof *graph->edge, "edges of a call graph");
    graph->edge[0] = (struct call_edge){0};
}

static void count_node(struct call_edges *graph, uint32_t node) {
    if (node >= graph->nodes)
        graph->nodes = node + 1;
}

uint32_t call_edges_number(struct call_edges *graph, uint32_t caller, uint64_t site,
                           uint32_t callee) {
    const struct call_edge edge = {.caller = caller, .callee = callee, .site = site};
    uint64_t hash = seeded_hash(seeded_hash(0, site), (uint64_t)caller << 32 | callee);
    make_room(graph);
    uint32_t *number = intern_find(&graph->index, hash, is_edge, graph->edge, &edge);
    if (*number != CALL_EDGES_NONE)
        return *number;
    graph->edge[++graph->edges] = edge;
    *number = graph->edges;
    count_node(graph, caller);
    count_node(graph, callee);
    return graph->edges;
}

void call_edges_free(struct call_edges *graph) {
    free(graph->edge);
    intern_free(&graph->index);
    *graph = (struct call_edges){0};
}
