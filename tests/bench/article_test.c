/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * article_test.c - the tree that the benchmarks compare with does what the article says: the exact
 * one has the contexts and counts of ours, the other keeps the bounds of Space Saving and holds
 * monitored contexts and their ancestors only.
 */
#include "tests/check.h"

#include "common/tree/mcct.h"
#include "common/tree/summary.h"
#include "tests/bench/article_tree.h"
#include "tests/tree/nodes.h"
#include "tests/tree/world.h"

#define DEPTH_MAX  40
#define CALLS      60000
#define FRAMES_FEW 9 /* below a node, of which the first are the most frequent */

struct trio {
    struct mcct *ours; /* exact: the oracle */
    struct article_tree *exact, *lazy;
    uint64_t calls, capacity;
    uint32_t path[DEPTH_MAX + 1]; /* to the node that mcct_walk() is at */
    uint32_t *depth;              /* of the oracle's nodes by index */
    bool *held;                   /* whether the lazy tree must have that node */
    uint64_t sum, monitored;      /* over the lazy tree's counts */
    uint32_t least, most_cold;    /* count of a monitored; true weight of one that is not */
};

static uint32_t random_frame(struct rng *rng) {
    uint64_t high = 1 + rng_below(rng, FRAMES_FEW);
    return 1 + (uint32_t)rng_below(rng, high);
}

/* Calls and returns with runs of returns, to any depth up to the limit. */
static void feed(struct trio *trio, struct rng *rng) {
    struct mcct_cursor cursor;
    uint32_t depth = 0;
    mcct_cursor_open(trio->ours, &cursor);
    while (trio->calls < CALLS) {
        if (depth == DEPTH_MAX || (depth > 0 && rng_below(rng, 16) < 7)) {
            uint32_t n = 1 + (uint32_t)rng_below(rng, depth < 4 ? depth : 4);
            mcct_pop(&cursor, n);
            article_leave(trio->exact, n);
            article_leave(trio->lazy, n);
            depth -= n;
            continue;
        }
        uint32_t frame = random_frame(rng);
        mcct_call(&cursor, frame);
        article_enter(trio->exact, frame, frame);
        article_enter(trio->lazy, frame, frame);
        depth++;
        trio->calls++;
    }
    mcct_cursor_close(&cursor);
}

static bool check_context(void *arg, uint32_t node, const struct mcct_view *view) {
    struct trio *trio = arg;
    uint32_t exact, lazy;
    if (node == MCCT_ROOT)
        return true;
    uint32_t depth = trio->depth[node] = trio->depth[view->parent] + 1;
    trio->path[depth - 1] = view->frame;
    CHECK(article_find(trio->exact, trio->path, depth, &exact));
    CHECK_UINT(exact, view->count);
    (void)article_find(trio->lazy, trio->path, depth, &lazy);
    if (lazy == 0) {
        trio->most_cold = exact > trio->most_cold ? exact : trio->most_cold;
    } else {
        CHECK(lazy >= exact && lazy - exact <= trio->calls / trio->capacity);
        trio->sum += lazy;
        trio->monitored++;
        trio->least = lazy < trio->least ? lazy : trio->least;
        for (uint32_t up = node; up != 0 && !trio->held[up];) {
            struct mcct_view above;
            trio->held[up] = true;
            node_view(trio->ours, up, &above);
            up = above.parent;
        }
    }
    return true;
}

static uint64_t count_held(const struct trio *trio, uint64_t nodes) {
    uint64_t n = 0;
    for (uint64_t i = 0; i <= nodes; i++)
        n += trio->held[i];
    return n;
}

static void check_trio(struct trio *trio) {
    struct mcct_stats ours;
    struct article_stats exact, lazy;
    mcct_stats(trio->ours, &ours);
    article_stats(trio->exact, &exact);
    article_stats(trio->lazy, &lazy);
    CHECK_UINT(exact.nodes, ours.nodes);
    CHECK_UINT(exact.monitored, ours.nodes - 1);
    trio->depth = calloc(ours.nodes + 1, sizeof *trio->depth);
    trio->held = calloc(ours.nodes + 1, sizeof *trio->held);
    trio->least = UINT32_MAX;
    CHECK(mcct_walk(trio->ours, check_context, trio));
    CHECK_UINT(trio->sum, trio->calls);
    CHECK_UINT(trio->monitored, lazy.monitored);
    CHECK(lazy.monitored == trio->capacity || lazy.monitored == exact.monitored);
    CHECK(trio->least <= trio->calls / lazy.monitored);
    CHECK(trio->most_cold <= trio->least);
    CHECK_UINT(count_held(trio, ours.nodes), lazy.nodes);
    free(trio->depth);
    free(trio->held);
}

static void test_stream(uint64_t capacity, struct rng *rng) {
    struct trio trio = {
        .ours = mcct_new(&(struct mcct_params){.summary = &summary_exact, .epsilon = 0.5}),
        .exact = article_new(0),
        .lazy = article_new(1.0 / (double)capacity),
        .capacity = capacity,
    };
    if (trio.ours == NULL || trio.exact == NULL || trio.lazy == NULL)
        abort();
    feed(&trio, rng);
    check_trio(&trio);
    mcct_free(trio.ours);
    article_free(trio.exact);
    article_free(trio.lazy);
}

int main(void) {
    static const uint64_t capacities[] = {1, 2, 33, 500, 5000, 1000000};
    struct rng rng = {test_seed()};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++)
        test_stream(capacities[i], &rng);
    return check_report();
}
