/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* adaptive.c - when a new encoding pays. */
#include "common/encode/adaptive.h"

#include <stdlib.h>

#include "common/base/memory.h"

#define NEW_EDGES_MIN   16u /* beside ... */
#define NEW_EDGES_SHARE 8u  /* ... one in so many of those that are known */
#define JUDGED_SAMPLES  512u
#define FREED_LEAST     0.03 /* of the calls */
/* A call through the stack costs some ns more than others, a new encoding some 150 ns an edge. */
#define UNKNOWN_MIN      1024u
#define UNKNOWN_PER_EDGE 16u

static void append(struct adaptive *a) {
    a->encoding =
        memory_grow(a->encoding, a->encodings, &a->room, sizeof *a->encoding, "encodings of calls");
    a->encoding[a->encodings++] = encoding_make(&a->graph, a->id_bits);
}

void adaptive_start(struct adaptive *a, unsigned id_bits) {
    *a = (struct adaptive){.id_bits = id_bits};
    append(a);
}

void adaptive_end(struct adaptive *a) {
    for (uint32_t i = 0; i < a->encodings; i++)
        encoding_free(a->encoding[i]);
    free(a->encoding);
    call_edges_free(&a->graph);
    *a = (struct adaptive){0};
}

/* Whether many calls would have the code 0 if each function's heaviest edge had it. */
static bool pays(const struct adaptive *a) {
    const struct encoding *now = adaptive_now(a);
    uint64_t all = 0, freed = 0;
    for (uint32_t node = 0; node < now->nodes; node++) {
        uint64_t heaviest = 0;
        for (uint32_t i = now->in_first[node]; i < now->in_first[node + 1]; i++) {
            uint64_t weight = a->graph.edge[now->in[i]].weight;
            all += weight;
            heaviest = weight > heaviest ? weight : heaviest;
        }
        if (heaviest > 0)
            freed += heaviest - a->graph.edge[now->in[now->in_first[node]]].weight;
    }
    return (double)freed > FREED_LEAST * (double)all;
}

void adaptive_sample(struct adaptive *a, uint32_t edge) {
    a->graph.edge[edge].weight++;
    if (++a->samples < JUDGED_SAMPLES)
        return;
    a->samples = 0;
    a->pays = pays(a);
}

bool adaptive_is_due(const struct adaptive *a) {
    uint32_t known = adaptive_now(a)->edges, new_edges = a->graph.edges - known;
    return a->pays || (new_edges >= NEW_EDGES_MIN && new_edges >= known / NEW_EDGES_SHARE) ||
           a->by_unknown >= UNKNOWN_MIN + (uint64_t)UNKNOWN_PER_EDGE * known;
}

void adaptive_renew(struct adaptive *a) {
    append(a);
    for (uint32_t i = 1; i <= a->graph.edges; i++)
        a->graph.edge[i].weight -= a->graph.edge[i].weight / 2;
    a->by_unknown = 0;
    a->samples = 0;
    a->pays = false;
}
