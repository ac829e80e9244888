/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dot_choose.c - what is drawn of a call graph, and what isn't, counted.
 */
#include "common/render/dot_choose.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/render/format.h"

struct candidate {
    uint32_t vertex;
    uint64_t score;
};

static int by_score(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static bool is_process(const struct call_graph *graph, uint32_t vertex) {
    return graph->vertices[vertex].frame >= graph->profile->n_locations;
}

/* By vertex: what doesn't go on to the callee that most goes on to. It is small where the vertex is
 * but a step on a single way, however much passes. */
static uint64_t *make_scores(const struct call_graph *graph) {
    uint64_t *heaviest = memory_new(graph->n_vertices, sizeof *heaviest, "functions");
    for (uint32_t e = 1; e < graph->n_edges; e++) {
        const struct call_edge *edge = &graph->edges[e];
        if (edge->weight > heaviest[edge->caller] && edge->callee != edge->caller)
            heaviest[edge->caller] = edge->weight;
    }
    for (uint32_t i = 1; i < graph->n_vertices; i++) {
        uint64_t inclusive = graph->vertices[i].inclusive;
        heaviest[i] = inclusive > heaviest[i] ? inclusive - heaviest[i] : 0;
        if (heaviest[i] < graph->vertices[i].self)
            heaviest[i] = graph->vertices[i].self;
    }
    return heaviest;
}

static void choose_vertices(struct dot_choice *choice, const struct call_graph *graph,
                            uint64_t total) {
    double least = choice->least * (double)total;
    uint32_t limit = choice->least < FORMAT_DEFAULT_CUT ? UINT32_MAX : DOT_VERTICES_MAX, n = 0;
    struct candidate *candidates = memory_new(graph->n_vertices, sizeof *candidates, "functions");
    uint64_t *score = make_scores(graph);
    for (uint32_t i = 1; i < graph->n_vertices; i++) {
        const struct call_vertex *vertex = &graph->vertices[i];
        if (!is_process(graph, i) && profile_is_pruned(graph->profile, vertex->frame)) {
            choice->pruned += vertex->self;
        } else if ((double)vertex->inclusive < least) {
            choice->small++;
            choice->small_self += vertex->self;
        } else {
            candidates[n++] = (struct candidate){i, is_process(graph, i) ? UINT64_MAX : score[i]};
        }
    }
    qsort(candidates, n, sizeof *candidates, by_score);
    for (uint32_t i = 0; i < n; i++) {
        choice->vertex[candidates[i].vertex] = i < limit || candidates[i].score == UINT64_MAX;
        choice->n_vertices += choice->vertex[candidates[i].vertex];
        if (!choice->vertex[candidates[i].vertex])
            choice->crowded_self += graph->vertices[candidates[i].vertex].self;
    }
    choice->crowded = n - choice->n_vertices;
    free(score);
    free(candidates);
}

static void choose_edges(struct dot_choice *choice, const struct call_graph *graph,
                         uint64_t total) {
    double least = choice->least * DOT_EDGE_CUT * (double)total;
    uint32_t *heaviest = memory_new(graph->n_vertices, sizeof *heaviest, "functions");
    choice->edge = memory_new(graph->n_edges, sizeof *choice->edge, "calls");
    for (uint32_t e = 1; e < graph->n_edges; e++) {
        const struct call_edge *edge = &graph->edges[e];
        choice->edge[e] =
            edge->weight > 0 && (double)edge->weight >= (edge->gap ? 2 * least : least);
        if (edge->caller != edge->callee &&
            (heaviest[edge->callee] == 0 ||
             edge->weight > graph->edges[heaviest[edge->callee]].weight))
            heaviest[edge->callee] = e;
    }
    for (uint32_t i = 1; i < graph->n_vertices; i++)
        choice->edge[heaviest[i]] = true;
    choice->edge[0] = false;
    for (uint32_t e = 1; e < graph->n_edges; e++)
        choice->n_edges += choice->edge[e];
    free(heaviest);
}

void dot_choose(struct dot_choice *choice, struct call_graph *graph, uint64_t total, double cut) {
    *choice = (struct dot_choice){
        .least = cut, .vertex = memory_new(graph->n_vertices, sizeof(bool), "functions")};
    choose_vertices(choice, graph, total);
    call_graph_connect(graph, choice->vertex);
    choose_edges(choice, graph, total);
}

void dot_choice_free(struct dot_choice *choice) {
    free(choice->vertex);
    free(choice->edge);
}
