/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * space_saving_test.c - what Space Saving guarantees, by whichever queue, beyond what every summary
 * does (summary_test): counts that add up, the least as the victim.
 */
#include "tests/check.h"

#include "common/tree/summary.h"
#include "tests/tree/nodes.h"
#include "tests/tree/streams.h"

#define WALKERS 5

/* ---- the guarantees ---- */

/* The last one's counts need not add up to N, and its victim need not be the least: what shares a
 * cell of the filter decides. */
static const struct summary_kind *const kinds[] = {
    &summary_space_saving, &summary_space_saving_list, &summary_filtered_space_saving};
#define KINDS  (sizeof kinds / sizeof *kinds)
#define STRICT (KINDS - 1)

static struct mcct *make(const struct summary_kind *kind, double epsilon) {
    struct mcct *tree = mcct_new(&(struct mcct_params){.summary = kind, .epsilon = epsilon});
    if (tree == NULL)
        abort();
    return tree;
}

static void check_guarantees(const struct summary_kind *kind, const struct world *world,
                             const struct mcct *tree, const struct walker *walkers,
                             const char *name) {
    struct verdict v = world_check(world, tree, walkers, WALKERS);
    if (v.wrong != NULL)
        fprintf(stderr, "stream \"%s\": not so: %s\n", name, v.wrong);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.above, 0);
    CHECK(v.sum == world->total || (kind == kinds[STRICT] && v.sum <= world->total));
    CHECK(v.stats.unseen <= v.least);
    CHECK(v.stats.unseen <= world->total / v.stats.capacity);
    CHECK(v.error <= v.stats.unseen);
    CHECK(v.stats.monitored == v.stats.capacity || v.stats.unseen == 0);
}

static void run(struct world *world, const struct summary_kind *kind,
                const struct stream_kind *what, uint64_t (*weight)(struct rng *), uint32_t capacity,
                struct rng *rng) {
    struct mcct *tree = make(kind, 1.0 / capacity);
    struct walker walkers[WALKERS];
    struct stream stream = {world, capacity, 0, 8000, rng};
    world_forget(world);
    for (unsigned i = 0; i < WALKERS; i++)
        walker_open(&walkers[i], tree);
    for (; stream.step < stream.steps; stream.step++) {
        struct walker *walker = &walkers[rng_below(rng, WALKERS)];
        walker_go(world, walker, what->next(&stream));
        walker_credit(world, walker, weight(rng));
    }
    check_guarantees(kind, world, tree, walkers, what->name);
    for (unsigned i = 0; i < WALKERS; i++)
        mcct_cursor_close(&walkers[i].cursor);
    check_guarantees(kind, world, tree, walkers, what->name);
    mcct_free(tree);
}

/* What holds beyond the guarantees of all summaries (summary_test): the counts add up to N. */
static void test_streams(struct rng *rng) {
    static const uint32_t capacity[] = {1, 257};
    struct world world;
    world_make(&world, WORLD_BUSHY, 9001, rng);
    for (size_t kind = 0; kind < KINDS; kind++)
        for (const struct stream_kind *what = streams; what->name != NULL; what++)
            for (size_t w = 0; w < STREAM_WEIGHTS; w++)
                for (size_t c = 0; c < sizeof capacity / sizeof *capacity; c++)
                    run(&world, kinds[kind], what, stream_weights[w], capacity[c], rng);
    world_free(&world);
}

/* ---- the victim is the least, every time ---- */

static void step_and_compare(struct world *world, struct mcct *tree, struct walker *walker,
                             uint64_t weight) {
    struct mcct_view view;
    node_view(tree, walker->cursor.node, &view);
    struct verdict before = world_check(world, tree, walker, 1);
    walker_credit(world, walker, weight);
    struct mcct_stats after;
    mcct_stats(tree, &after);
    if (view.monitored || before.stats.monitored < before.stats.capacity) {
        CHECK_UINT(after.unseen, before.stats.unseen);
        return;
    }
    CHECK_UINT(after.unseen, before.least);
    node_view(tree, walker->cursor.node, &view);
    CHECK(view.monitored);
    CHECK_UINT(view.error, before.least);
    CHECK_UINT(view.count, before.least + weight);
}

static void test_least(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    world_make(&world, WORLD_BUSHY, 300, rng);
    for (size_t w = 0; w < STREAM_WEIGHTS; w++) {
        struct mcct *tree = make(kind, 1.0 / 33);
        struct walker walker;
        struct stream stream = {&world, 33, 0, 0, rng};
        world_forget(&world);
        walker_open(&walker, tree);
        for (int i = 0; i < 6000; i++) {
            walker_go(&world, &walker, stream_zipf(&stream));
            step_and_compare(&world, tree, &walker, stream_weights[w](rng));
        }
        mcct_cursor_close(&walker.cursor);
        mcct_free(tree);
    }
    world_free(&world);
}

/* ---- the filter ---- */

static void credit_below_root(struct mcct *tree, uint32_t frame, uint64_t weight) {
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    mcct_push(&cursor, frame);
    mcct_credit(&cursor, weight);
    mcct_cursor_close(&cursor);
}

/* M is full of contexts of weight 100; as many others as can't make a cell of more than that come
 * once each, and one of them again and again. */
static void test_filter(void) {
    struct mcct *tree = make(&summary_filtered_space_saving, 0.1);
    struct mcct_stats stats;
    struct mcct_view view;
    for (uint32_t frame = 1; frame <= 10; frame++)
        credit_below_root(tree, frame, 100);
    for (uint32_t frame = 11; frame <= 60; frame++)
        credit_below_root(tree, frame, 1);
    for (uint32_t frame = 1; frame <= 10; frame++) {
        uint32_t node = node_child(tree, MCCT_ROOT, frame);
        CHECK(node != 0);
        node_view(tree, node, &view);
        CHECK(view.monitored && view.count == 100 && view.error == 0);
    }
    mcct_stats(tree, &stats);
    CHECK_UINT(stats.nodes, 11);
    CHECK_UINT(stats.total, 1050);
    CHECK(stats.unseen >= 1 && stats.unseen <= 100);
    for (uint32_t i = 0; i < 100; i++)
        credit_below_root(tree, 11, 1);
    uint32_t node = node_child(tree, MCCT_ROOT, 11);
    CHECK(node != 0);
    node_view(tree, node, &view);
    CHECK(view.count >= 101 && view.count - view.error <= 101 && view.error <= 100);
    mcct_free(tree);
}

/* ---- the edges ---- */

static void test_saturation(const struct summary_kind *kind) {
    struct mcct *tree = make(kind, 0.5);
    struct mcct_cursor cursor;
    struct mcct_stats stats;
    struct mcct_view view;
    mcct_cursor_open(tree, &cursor);
    for (uint32_t frame = 1; frame <= 3; frame++) {
        mcct_push(&cursor, frame);
        mcct_credit(&cursor, UINT64_MAX - frame);
        mcct_credit(&cursor, UINT64_MAX - frame);
        node_view(tree, cursor.node, &view);
        CHECK_UINT(view.count, UINT64_MAX);
        mcct_pop(&cursor, 1);
    }
    mcct_stats(tree, &stats);
    CHECK_UINT(stats.total, UINT64_MAX);
    CHECK_UINT(stats.monitored, 2);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

static void test_capacity(void) {
    static const struct {
        double epsilon;
        uint64_t capacity;
    } cases[] = {{2e-5, 50000}, {1e-6, 1000000}, {0.5, 2}, {0.3, 4}, {1.0 / 3, 3}, {0.999, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcct *tree = make(NULL, cases[i].epsilon);
        struct mcct_stats stats;
        mcct_stats(tree, &stats);
        CHECK_UINT(stats.capacity, cases[i].capacity);
        mcct_free(tree);
    }
}

int main(void) {
    struct rng rng = {test_seed()};
    test_streams(&rng);
    for (size_t kind = 0; kind < STRICT; kind++) {
        test_least(kinds[kind], &rng);
        test_saturation(kinds[kind]);
    }
    test_filter();
    test_capacity();
    return check_report();
}
