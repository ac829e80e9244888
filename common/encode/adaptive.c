/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* adaptive.c - when a new encoding pays. */
#include "common/encode/adaptive.h"

#include <stdlib.h>

#include "common/base/memory.h"

#define NEW_EDGES_MIN   16u /* beside ... */
#define NEW_EDGES_SHARE 8u  /* ... one in so many of those that are known */
#define JUDGED_SAMPLES  512u
#define UNKNOWN_MOST    0.01 /* of the calls */
#define DEARER          0.05 /* per call, in prices of an addition */

static const uint8_t price[CONTEXT_STEPS] = {
    [CONTEXT_ADDED] = 1, [CONTEXT_PUSHED] = 4, [CONTEXT_REPEATED] = 4};

static void append(struct adaptive *a) {
    a->encoding =
        memory_grow(a->encoding, a->encodings, &a->room, sizeof *a->encoding, "encodings of calls");
    a->encoding[a->encodings++] = encoding_make(&a->graph, a->id_bits);
}

void adaptive_start(struct adaptive *a, unsigned id_bits) {
    *a = (struct adaptive){.id_bits = id_bits, .first_price = -1};
    append(a);
}

void adaptive_end(struct adaptive *a) {
    for (uint32_t i = 0; i < a->encodings; i++)
        encoding_free(a->encoding[i]);
    free(a->encoding);
    call_edges_free(&a->graph);
    *a = (struct adaptive){0};
}

static void judge(struct adaptive *a) {
    double each = (double)a->price / a->samples;
    if (a->first_price < 0)
        a->first_price = each;
    a->is_dear = a->unknown > UNKNOWN_MOST * a->samples || each > a->first_price + DEARER;
    a->samples = a->unknown = a->price = 0;
}

void adaptive_sample(struct adaptive *a, uint32_t edge, enum context_step step) {
    a->graph.edge[edge].weight++;
    a->unknown += edge > adaptive_now(a)->edges;
    a->price += price[step];
    if (++a->samples == JUDGED_SAMPLES)
        judge(a);
}

bool adaptive_is_due(const struct adaptive *a) {
    uint32_t known = adaptive_now(a)->edges, new_edges = a->graph.edges - known;
    return a->is_dear || (new_edges >= NEW_EDGES_MIN && new_edges >= known / NEW_EDGES_SHARE);
}

void adaptive_renew(struct adaptive *a) {
    append(a);
    for (uint32_t i = 1; i <= a->graph.edges; i++)
        a->graph.edge[i].weight -= a->graph.edge[i].weight / 2;
    a->samples = a->unknown = a->price = 0;
    a->first_price = -1;
    a->is_dear = false;
}
