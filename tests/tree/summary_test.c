/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * summary_test.c - what every summary in the table guarantees, on streams of every kind, against
 * true weights in an array: alone, merged, under a memory cap. A new kind is tested by being
 * listed.
 */
#include "tests/check.h"

#include "common/tree/summary.h"
#include "tests/tree/streams.h"

#define WALKERS 3

/* How many contexts may be above a bound that holds with probability 1 - 1e-4 * phi for each, in
 * all that this test does: none is expected, with any seed. */
#define ABOVE_MAX 3

static uint64_t above;

static struct mcct *make(const struct summary_kind *kind, uint32_t capacity, size_t max_bytes) {
    struct mcct *tree = mcct_new(&(struct mcct_params){
        .summary = kind, .epsilon = 1.0 / capacity, .max_bytes = max_bytes, .seed = 5});
    if (tree == NULL)
        abort();
    return tree;
}

/* ---- the guarantees ---- */

static double logarithm_below(double x) {
    double bits = 0;
    for (; x > 2; x /= 2)
        bits += 0.6931;
    return bits;
}

/* The most contexts that the kind may monitor, if its file says. */
static double size_limit(const struct summary_kind *kind, uint32_t capacity, uint64_t total) {
    if (kind == &summary_lossy_counting)
        return capacity * (3 + logarithm_below((double)total / capacity));
    if (kind == &summary_sticky_sampling) /* twice what is expected, and some */
        return 4.0 * capacity * (logarithm_below(1e4 * capacity) + 1) + 100;
    return kind->bounded ? capacity : 1e18;
}

/* Those that hold also after merges and under a memory cap. */
static struct verdict check_bounds(const struct summary_kind *kind, const struct world *world,
                                   const struct mcct *tree, const struct walker *walkers,
                                   unsigned n_walkers, const char *when) {
    struct verdict v = world_check(world, tree, walkers, n_walkers);
    if (v.wrong != NULL)
        fprintf(stderr, "%s, %s: not so: %s\n", kind->name, when, v.wrong);
    if (v.above > 0)
        fprintf(stderr, "%s, %s: %llu contexts above\n", kind->name, when,
                (unsigned long long)v.above);
    CHECK(v.wrong == NULL);
    CHECK(!kind->certain || v.above == 0);
    CHECK(v.error <= v.stats.unseen);
    CHECK_UINT(v.stats.total, world->total);
    above += v.above;
    return v;
}

/* No context of weight above N/k is missing. */
static void check_guarantees(const struct summary_kind *kind, uint32_t capacity,
                             const struct world *world, const struct mcct *tree,
                             const struct walker *walkers, const char *when) {
    struct verdict v = check_bounds(kind, world, tree, walkers, WALKERS, when);
    uint64_t most = world->total / capacity + !kind->certain;
    CHECK(v.stats.unseen <= most);
    CHECK(v.missing <= most || (!kind->certain && v.above > 0));
    CHECK_UINT(v.stats.capacity, kind->bounded ? capacity : 0);
    CHECK((double)v.stats.monitored <= size_limit(kind, capacity, world->total));
}

static void run(struct world *world, const struct summary_kind *kind,
                const struct stream_kind *what, uint64_t (*weight)(struct rng *), uint32_t capacity,
                uint64_t steps, struct rng *rng) {
    struct mcct *tree = make(kind, capacity, 0);
    struct walker walkers[WALKERS];
    struct stream stream = {world, capacity, 0, steps, rng};
    world_forget(world);
    for (unsigned i = 0; i < WALKERS; i++)
        walker_open(&walkers[i], tree);
    for (; stream.step < steps; stream.step++) {
        struct walker *walker = &walkers[rng_below(rng, WALKERS)];
        walker_go(world, walker, what->next(&stream));
        walker_credit(world, walker, weight(rng));
        if (stream.step % (steps / 4) == steps / 7)
            check_guarantees(kind, capacity, world, tree, walkers, what->name);
    }
    for (unsigned i = 0; i < WALKERS; i++)
        mcct_cursor_close(&walkers[i].cursor);
    check_guarantees(kind, capacity, world, tree, walkers, what->name);
    mcct_free(tree);
}

static void test_streams(const struct summary_kind *kind, struct rng *rng) {
    static const uint32_t size[WORLD_SHAPES] = {9001, 20011, 3001}, capacity[] = {1, 10, 257};
    for (unsigned shape = 0; shape < WORLD_SHAPES; shape++) {
        struct world world;
        world_make(&world, shape, size[shape], rng);
        uint64_t steps = shape == WORLD_DEEP ? 3000 : 12000;
        for (const struct stream_kind *what = streams; what->name != NULL; what++)
            for (size_t w = 0; w < STREAM_WEIGHTS; w++)
                for (size_t c = 0; c < sizeof capacity / sizeof *capacity; c++)
                    run(&world, kind, what, stream_weights[w], capacity[c], steps, rng);
        world_free(&world);
    }
}

/* ---- one after another, and added up ---- */

static void feed(struct world *world, struct mcct *tree, const struct stream_kind *what, size_t w,
                 uint64_t steps, struct rng *rng) {
    struct walker walker;
    struct stream stream = {world, 100, 0, steps, rng};
    walker_open(&walker, tree);
    for (; stream.step < steps; stream.step++) {
        walker_go(world, &walker, what->next(&stream));
        walker_credit(world, &walker, stream_weights[w](rng));
    }
    mcct_cursor_close(&walker.cursor);
}

/* What a sampling kind says of others may be twice as wide after a merge. */
static void check_sum(const struct summary_kind *kind, uint32_t capacity, const struct world *world,
                      const struct mcct *tree, uint64_t merges, const char *when) {
    struct verdict v = check_bounds(kind, world, tree, NULL, 0, when);
    uint64_t most = world->total / capacity;
    CHECK(v.stats.unseen <= (kind->certain ? most : 2 * most + merges + 1));
}

static void test_merge(const struct summary_kind *kind, struct rng *rng) {
    enum { CAPACITY = 100, TREES = 12 };
    struct world world;
    world_make(&world, WORLD_BUSHY, 15013, rng);
    for (const struct stream_kind *what = streams; what->name != NULL; what++)
        for (size_t w = 0; w < STREAM_WEIGHTS; w++) {
            struct mcct *sum = make(kind, CAPACITY, 0);
            world_forget(&world);
            for (unsigned i = 1; i <= TREES; i++) {
                struct mcct *one = make(kind, CAPACITY, 0);
                feed(&world, one, what, w, i % 3 == 0 ? 5000 : 300, rng);
                CHECK(mcct_merge(sum, one));
                mcct_free(one);
                check_sum(kind, CAPACITY, &world, sum, i, what->name);
            }
            feed(&world, sum, what, w, 5000, rng); /* life goes on */
            check_sum(kind, CAPACITY, &world, sum, TREES, what->name);
            mcct_free(sum);
        }
    world_free(&world);
}

/* Many small trees, none of which would ever forget anything: the sum does. */
static void test_fold(const struct summary_kind *kind, struct rng *rng) {
    enum { CAPACITY = 50, TREES = 400 };
    struct world world;
    world_make(&world, WORLD_FLAT, 9001, rng);
    struct mcct *sum = make(kind, CAPACITY, 0);
    for (unsigned i = 0; i < TREES; i++) {
        struct mcct *one = make(kind, CAPACITY, 0);
        feed(&world, one, &streams[0], 0, 40, rng);
        CHECK(mcct_merge(sum, one));
        mcct_free(one);
    }
    check_sum(kind, CAPACITY, &world, sum, TREES, "many small trees");
    struct mcct_stats stats;
    mcct_stats(sum, &stats);
    CHECK((double)stats.monitored <= size_limit(kind, CAPACITY, world.total));
    mcct_free(sum);
    world_free(&world);
}

/* ---- a memory cap ---- */

/* Precision gives way, never the bounds, and never the cap. */
static void test_cap(const struct summary_kind *kind, struct rng *rng) {
    enum { CAP = 128 << 10, STEPS = 24000 };
    if (kind->shrink == NULL)
        return;
    struct world world;
    world_make(&world, WORLD_BUSHY, 15013, rng);
    for (const struct stream_kind *what = streams; what->name != NULL; what++)
        for (size_t w = 0; w < STREAM_WEIGHTS; w++) {
            struct mcct *tree = make(kind, 1000000, CAP), *sum = make(kind, 1000000, CAP);
            world_forget(&world);
            for (int i = 0; i < 4; i++) {
                feed(&world, tree, what, w, STEPS / 4, rng);
                struct verdict v = check_bounds(kind, &world, tree, NULL, 0, what->name);
                CHECK(v.stats.bytes <= CAP);
                CHECK_UINT(v.stats.capped, 0);
                CHECK(v.stats.monitored > 100); /* of the few that some streams have, all */
            }
            mcct_merge(sum, tree);
            check_bounds(kind, &world, sum, NULL, 0, what->name);
            mcct_free(tree);
            mcct_free(sum);
        }
    world_free(&world);
}

/* ---- the same again ---- */

static bool add_up(void *arg, uint32_t node, const struct mcct_view *view) {
    uint64_t *sum = arg;
    (void)node;
    *sum = (*sum ^ view->frame) * 0x9e3779b97f4a7c15u + view->count;
    *sum = (*sum ^ view->error) * 0x9e3779b97f4a7c15u + view->monitored;
    return true;
}

static uint64_t outcome(const struct summary_kind *kind, struct world *world, uint64_t seed) {
    struct rng rng = {77};
    struct mcct *tree = mcct_new(
        &(struct mcct_params){.summary = kind, .epsilon = 0.02, .phi = 0.05, .seed = seed});
    if (tree == NULL)
        abort();
    feed(world, tree, &streams[1], 0, 30000, &rng);
    uint64_t sum = 0;
    CHECK(mcct_walk(tree, add_up, &sum));
    mcct_free(tree);
    return sum;
}

/* One seed, one result; only a kind that tosses coins heeds the seed. */
static void test_repeatable(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    world_make(&world, WORLD_BUSHY, 15013, rng);
    uint64_t first = outcome(kind, &world, 1);
    CHECK_UINT(outcome(kind, &world, 1), first);
    CHECK((outcome(kind, &world, 2) == first) == kind->certain);
    world_free(&world);
}

/* mcct_call is a push and a credit of 1. */
static void test_call(const struct summary_kind *kind, struct rng *rng) {
    struct mcct *tree[2] = {make(kind, 20, 0), make(kind, 20, 0)};
    struct mcct_cursor cursor[2];
    uint64_t sum[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        mcct_cursor_open(tree[i], &cursor[i]);
    for (int step = 0; step < 20000; step++) {
        uint32_t frame = 1 + (uint32_t)rng_below(rng, 1 + rng_below(rng, 30));
        mcct_push(&cursor[0], frame);
        mcct_credit(&cursor[0], 1);
        mcct_call(&cursor[1], frame);
        uint64_t n = rng_below(rng, 3) + (mcct_depth(&cursor[0]) > 6);
        CHECK_UINT(mcct_pop(&cursor[1], n), mcct_pop(&cursor[0], n));
    }
    struct mcct_stats stats;
    for (int i = 0; i < 2; i++) {
        CHECK(mcct_walk(tree[i], add_up, &sum[i]));
        mcct_stats(tree[i], &stats);
        CHECK_UINT(stats.total, 20000);
        CHECK_UINT(stats.updates, 20000);
        mcct_free(tree[i]);
    }
    CHECK_UINT(sum[1], sum[0]);
}

int main(void) {
    struct rng rng = {test_seed()};
    for (size_t i = 0; summary_kinds[i]->name != NULL; i++) {
        const struct summary_kind *kind = summary_kinds[i];
        test_streams(kind, &rng);
        test_merge(kind, &rng);
        test_fold(kind, &rng);
        test_cap(kind, &rng);
        test_repeatable(kind, &rng);
        test_call(kind, &rng);
    }
    CHECK(above <= ABOVE_MAX);
    return check_report();
}
