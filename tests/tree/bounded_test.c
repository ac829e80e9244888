/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bounded_test.c - a long stream over ten million contexts in a few megabytes.
 *
 * A leaf is a number of seven digits, its context the path of the first and of three pairs, so that
 * nodes have up to a hundred children and the exact tree has 10.1 million nodes (over 320 MB). Four
 * samples in ten go to few leaves, the others to each leaf in turn, far from the last; a sample
 * pops to the common prefix, pushes the rest, and credits the leaf. HCCT_TEST_EVENTS: how many
 * verbs, default 10^8, which sees all leaves.
 */
#include "tests/check.h"

#include <malloc.h>

#include "common/tree/mcct.h"
#include "common/tree/residual.h"
#include "tests/tree/nodes.h"
#include "tests/tree/world.h"

#define LEVELS  4
#define LEAVES  10000000u
#define EPSILON 2e-5
#define M       50000u

/* The root and the two levels below it; of the others each monitored leaf has two to itself at the
 * worst, and so has the cursor's. */
#define NODES_MAX (1u + 10u + 1000u + (M + 1) * 2)
/* 16 bytes for a place in a table a quarter full, 4.3 for one in the queue, and the beginnings. */
#define BYTES_MAX (NODES_MAX * (32u + 16u) + M * 5u + 65536u + RESIDUALS_MIN * RESIDUALS_BYTES)

struct stream {
    struct mcct *tree;
    struct mcct_cursor cursor;
    uint32_t at, events, cold;
    uint64_t hot_credits;
    struct rng rng;
};

static const uint32_t power[LEVELS + 1] = {1, 100, 10000, 1000000, 100000000};

#define HOT 77777u /* this leaf gets every tenth sample */

static uint32_t next_leaf(struct stream *s) {
    uint64_t dice = rng_below(&s->rng, 10);
    if (dice == 0)
        return HOT;
    if (dice < 4)
        return (uint32_t)(rng_below(&s->rng, 2000) * 48611u % LEAVES);
    return (uint32_t)(s->cold++ * UINT64_C(7654321) % LEAVES);
}

static uint32_t frame_of(uint32_t leaf, unsigned level) {
    return 1 + leaf / power[level] % 100;
}

static void sample(struct stream *s, uint32_t leaf) {
    unsigned differ = 0;
    while (differ < LEVELS && s->at / power[differ] != leaf / power[differ])
        differ++;
    if (s->events == 0)
        differ = LEVELS;
    else
        mcct_pop(&s->cursor, differ);
    for (unsigned i = differ; i-- > 0;)
        mcct_push(&s->cursor, frame_of(leaf, i));
    mcct_credit(&s->cursor, 1);
    s->events += differ + 2;
    s->hot_credits += leaf == HOT;
    s->at = leaf;
}

/* Bytes that malloc has handed out; 0 under allocators that do not say. */
static size_t heap_used(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int main(void) {
    uint64_t events = test_number("HCCT_TEST_EVENTS", 100000000);
    struct stream s = {.rng = {test_seed()}};
    size_t heap = heap_used();
    s.tree = mcct_new(&(struct mcct_params){.epsilon = EPSILON});
    if (s.tree == NULL)
        return EXIT_FAILURE;
    mcct_cursor_open(s.tree, &s.cursor);
    struct mcct_stats stats = {0};
    uint64_t most_nodes = 0;
    for (uint64_t samples = 0; s.events < events; samples++) {
        sample(&s, next_leaf(&s));
        if (samples % 4096 != 0)
            continue;
        mcct_stats(s.tree, &stats);
        CHECK(stats.nodes <= NODES_MAX);
        CHECK(stats.bytes <= BYTES_MAX);
        most_nodes = stats.nodes > most_nodes ? stats.nodes : most_nodes;
    }
    mcct_stats(s.tree, &stats);
    CHECK_UINT(stats.monitored, M);
    CHECK(stats.unseen <= stats.total / M);
    CHECK(heap_used() - heap <= 2 * stats.bytes); /* tables and queue: nodes are mapped */
    mcct_pop(&s.cursor, UINT64_MAX);
    for (unsigned i = LEVELS; i-- > 0;)
        mcct_push(&s.cursor, frame_of(HOT, i));
    struct mcct_view view;
    node_view(s.tree, s.cursor.node, &view);
    CHECK(view.monitored && view.count >= s.hot_credits);
    CHECK(view.count - view.error <= s.hot_credits);
    printf("%u events, %u leaves, %llu nodes at most, %llu bytes (%.1f a node)\n", s.events,
           s.cold < LEAVES ? s.cold : LEAVES, (unsigned long long)most_nodes,
           (unsigned long long)stats.bytes, (double)stats.bytes / (double)most_nodes);
    mcct_cursor_close(&s.cursor);
    mcct_free(s.tree);
    return check_report();
}
