/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* acyclic.c - edges by weight into an order that is kept topological. */
#include "common/encode/acyclic.h"

#include <stdlib.h>

#include "common/base/memory.h"

static const char what[] = "the order of a call graph";

/* Edges that stay, as lists by either end. */
struct links {
    uint32_t *first, *next; /* by function; by edge */
};

struct sorter {
    const struct call_edges *graph;
    uint32_t *place; /* of each function in the order */
    uint32_t *at;    /* the function in each place */
    struct links out, in;
    uint32_t *seen; /* the search that has met the function last */
    uint32_t search;
    uint32_t *below, *above;  /* functions that the two searches have met */
    uint32_t *moved, *places; /* of both, while they are put in order */
};

/* ---- by weight ---- */

struct heavy {
    uint64_t weight;
    uint32_t edge;
};

static int heavier_first(const void *a, const void *b) {
    const struct heavy *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->edge < y->edge ? -1 : 1;
}

static uint32_t *sort_by_weight(const struct call_edges *graph) {
    uint32_t n = graph->edges;
    struct heavy *heavy = memory_new(n + 1, sizeof *heavy, what);
    uint32_t *sorted = memory_new(n + 1, sizeof *sorted, what);
    for (uint32_t i = 0; i < n; i++)
        heavy[i] = (struct heavy){graph->edge[i + 1].weight, i + 1};
    qsort(heavy, n, sizeof *heavy, heavier_first);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = heavy[i].edge;
    free(heavy);
    return sorted;
}

/* ---- searches ---- */

/* All that `start` reaches within the places up to `limit`, into `found`. 0: it reaches `avoid`,
 * too. */
static uint32_t search_below(struct sorter *s, uint32_t start, uint32_t limit, uint32_t avoid) {
    uint32_t n = 0;
    s->seen[start] = ++s->search;
    s->below[n++] = start;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = s->out.first[s->below[i]]; e != CALL_EDGES_NONE; e = s->out.next[e]) {
            uint32_t callee = s->graph->edge[e].callee;
            if (callee == avoid)
                return 0;
            if (s->place[callee] < limit && s->seen[callee] != s->search) {
                s->seen[callee] = s->search;
                s->below[n++] = callee;
            }
        }
    return n;
}

/* All that reaches `start` within the places from `limit` on. */
static uint32_t search_above(struct sorter *s, uint32_t start, uint32_t limit) {
    uint32_t n = 0;
    s->seen[start] = ++s->search;
    s->above[n++] = start;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = s->in.first[s->above[i]]; e != CALL_EDGES_NONE; e = s->in.next[e]) {
            uint32_t caller = s->graph->edge[e].caller;
            if (s->place[caller] > limit && s->seen[caller] != s->search) {
                s->seen[caller] = s->search;
                s->above[n++] = caller;
            }
        }
    return n;
}

/* ---- the order ---- */

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Functions by number become their places, sorted. */
static void sort_places(const struct sorter *s, uint32_t *functions, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        functions[i] = s->place[functions[i]];
    qsort(functions, n, sizeof *functions, compare_numbers);
}

/* All that was found above comes before all that was found below, in the places that they have
 * together; each of the two keeps its own order. */
static void reorder(struct sorter *s, uint32_t above, uint32_t below) {
    uint32_t n = above + below;
    sort_places(s, s->above, above);
    sort_places(s, s->below, below);
    for (uint32_t i = 0; i < n; i++) {
        s->places[i] = i < above ? s->above[i] : s->below[i - above];
        s->moved[i] = s->at[s->places[i]];
    }
    qsort(s->places, n, sizeof *s->places, compare_numbers);
    for (uint32_t i = 0; i < n; i++) {
        s->at[s->places[i]] = s->moved[i];
        s->place[s->moved[i]] = s->places[i];
    }
}

static void link_edge(struct links *links, uint32_t function, uint32_t edge) {
    links->next[edge] = links->first[function];
    links->first[function] = edge;
}

/* False: it would close a circle. */
static bool take(struct sorter *s, uint32_t number) {
    const struct call_edge *edge = &s->graph->edge[number];
    uint32_t caller = edge->caller, callee = edge->callee;
    if (callee == CALL_EDGES_ROOT || callee == caller)
        return false;
    if (s->place[caller] > s->place[callee]) {
        uint32_t below = search_below(s, callee, s->place[caller], caller);
        if (below == 0)
            return false;
        reorder(s, search_above(s, caller, s->place[callee]), below);
    }
    link_edge(&s->out, caller, number);
    link_edge(&s->in, callee, number);
    return true;
}

/* ---- */

static uint32_t *numbers(uint32_t n) {
    return memory_new((size_t)n + 1, sizeof(uint32_t), what);
}

static void start(struct sorter *s, const struct call_edges *graph) {
    uint32_t **const by_function[] = {&s->place, &s->at,     &s->seen,      &s->below,   &s->above,
                                      &s->moved, &s->places, &s->out.first, &s->in.first};
    s->graph = graph;
    for (size_t i = 0; i < sizeof by_function / sizeof *by_function; i++)
        *by_function[i] = numbers(graph->nodes);
    s->out.next = numbers(graph->edges);
    s->in.next = numbers(graph->edges);
    for (uint32_t i = 0; i < graph->nodes; i++)
        s->place[i] = s->at[i] = i; /* most callers were found before what they call */
}

static void end(struct sorter *s) {
    uint32_t *const all[] = {s->place,  s->seen,      s->below,    s->above,    s->moved,
                             s->places, s->out.first, s->in.first, s->out.next, s->in.next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

void acyclic_make(struct acyclic *acyclic, const struct call_edges *graph) {
    struct sorter s = {0};
    start(&s, graph);
    acyclic->by_weight = sort_by_weight(graph);
    acyclic->stays = memory_new((size_t)graph->edges + 1, sizeof *acyclic->stays, what);
    for (uint32_t i = 0; i < graph->edges; i++)
        acyclic->stays[acyclic->by_weight[i]] = take(&s, acyclic->by_weight[i]);
    acyclic->order = s.at;
    end(&s);
}

void acyclic_free(struct acyclic *acyclic) {
    free(acyclic->by_weight);
    free(acyclic->stays);
    free(acyclic->order);
    *acyclic = (struct acyclic){0};
}
