/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge_test.c - what holds after trees of Space Saving were added to each other, against the true
 * sums; of all kinds, what happens when memory is short.
 */
#include "tests/check.h"

#include "common/tree/summary.h"
#include "tests/tree/world.h"

static struct mcct *make(const struct summary_kind *kind, uint32_t capacity, size_t max_bytes) {
    struct mcct *tree = mcct_new(
        &(struct mcct_params){.summary = kind, .epsilon = 1.0 / capacity, .max_bytes = max_bytes});
    if (tree == NULL)
        abort();
    return tree;
}

/* Zipf-like over a part of the world; `turn` says which contexts are the hot ones. */
static void feed(struct world *world, struct mcct *tree, uint32_t steps, uint32_t turn, bool unit,
                 struct rng *rng) {
    struct walker walker;
    walker_open(&walker, tree);
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t top = UINT64_C(1) << rng_below(rng, 14);
        uint64_t context = (top + rng_below(rng, top) + turn) * 40503u % world->n;
        walker_go(world, &walker, (uint32_t)context);
        walker_credit(world, &walker, unit ? 1 : 1 + rng_below(rng, 100000));
    }
    mcct_cursor_close(&walker.cursor);
}

static struct verdict expect_right(const struct world *world, const struct mcct *tree) {
    struct verdict v = world_check(world, tree, NULL, 0);
    if (v.wrong != NULL)
        fprintf(stderr, "after a merge: not so: %s\n", v.wrong);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.above, 0);
    CHECK(v.error <= v.stats.unseen);
    return v;
}

/* Trees of one capacity: the bound is that of a single summary over both streams. */
static void test_two(struct world *world, const struct summary_kind *kind, uint32_t capacity,
                     uint32_t steps_a, uint32_t steps_b, bool unit, struct rng *rng) {
    struct mcct *a = make(kind, capacity, 0), *b = make(kind, capacity, 0);
    struct mcct_stats sa, sb;
    world_forget(world);
    feed(world, a, steps_a, 0, unit, rng);
    feed(world, b, steps_b, 3000, unit, rng);
    mcct_stats(a, &sa);
    mcct_stats(b, &sb);
    CHECK(mcct_merge(a, b));
    struct verdict v = expect_right(world, a);
    CHECK_UINT(v.stats.total, sa.total + sb.total);
    CHECK_UINT(v.stats.updates, sa.updates + sb.updates);
    CHECK(v.stats.unseen >= sa.unseen + sb.unseen);
    CHECK(v.sum <= world->total);
    CHECK(v.stats.unseen <= world->total / capacity);
    feed(world, a, steps_a, 500, unit, rng); /* life goes on */
    v = expect_right(world, a);
    CHECK(v.sum <= world->total);
    CHECK(v.stats.unseen <= world->total / capacity);
    mcct_free(a);
    mcct_free(b);
}

static void test_capacities(struct world *world, const struct summary_kind *kind, struct rng *rng) {
    static const uint32_t capacity[] = {1, 7, 100, 1000, 20000};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            struct mcct *a = make(kind, capacity[i], 0), *b = make(kind, capacity[j], 0);
            world_forget(world);
            feed(world, a, 5000, 0, false, rng);
            feed(world, b, 5000, 100, false, rng);
            CHECK(mcct_merge(a, b));
            struct verdict v = expect_right(world, a);
            uint64_t bound = v.stats.total / capacity[i < j ? i : j];
            CHECK(v.stats.unseen <= bound);
            mcct_free(b); /* nothing of it is left in a */
            feed(world, a, 5000, 9999, false, rng);
            expect_right(world, a);
            mcct_free(a);
        }
}

/* As finished processes are folded: many small ones into one. */
static void test_many(struct world *world, const struct summary_kind *kind, struct rng *rng) {
    enum { CAPACITY = 300 };
    struct mcct *sum = make(kind, CAPACITY, 0);
    world_forget(world);
    for (uint32_t i = 0; i < 60; i++) {
        struct mcct *one = make(kind, CAPACITY, 0);
        feed(world, one, i % 4 == 0 ? 20 : 2000, i % 7 * 900, i % 2, rng);
        CHECK(mcct_merge(sum, one));
        mcct_free(one);
    }
    struct verdict v = expect_right(world, sum);
    CHECK_UINT(v.stats.monitored, CAPACITY);
    CHECK(v.sum <= world->total);
    CHECK(v.stats.unseen <= world->total / CAPACITY);
    mcct_free(sum);
}

static void test_exact(struct world *world, struct rng *rng) {
    struct mcct *a = make(&summary_exact, 1, 0), *b = make(&summary_exact, 1, 0);
    struct mcct *other = make(&summary_space_saving, 10, 0);
    world_forget(world);
    feed(world, a, 10000, 0, false, rng);
    feed(world, b, 10000, 50, true, rng);
    CHECK(!mcct_merge(a, other));
    CHECK(mcct_merge(a, b));
    struct verdict v = expect_right(world, a);
    CHECK_UINT(v.sum, world->total);
    CHECK_UINT(v.error, 0);
    CHECK_UINT(v.stats.unseen, 0);
    mcct_free(a);
    mcct_free(b);
    mcct_free(other);
}

static void test_empty(struct world *world, struct rng *rng) {
    struct mcct *a = make(NULL, 100, 0), *b = make(NULL, 100, 0), *none = make(NULL, 100, 0);
    world_forget(world);
    feed(world, a, 10000, 0, true, rng);
    struct verdict before = expect_right(world, a);
    CHECK(mcct_merge(a, none));
    struct verdict after = expect_right(world, a);
    CHECK_UINT(after.sum, before.sum);
    CHECK_UINT(after.stats.unseen, before.stats.unseen);
    CHECK(mcct_merge(b, a));
    after = expect_right(world, b);
    CHECK_UINT(after.sum, before.sum);
    CHECK_UINT(after.stats.nodes, before.stats.nodes);
    CHECK_UINT(after.stats.unseen, before.stats.unseen);
    mcct_free(a);
    mcct_free(b);
    mcct_free(none);
}

/* Cursors of both trees stay where they are. */
static void test_cursors(struct world *world, struct rng *rng) {
    struct mcct *a = make(NULL, 50, 0), *b = make(NULL, 50, 0);
    struct walker in_a, in_b;
    world_forget(world);
    feed(world, a, 3000, 0, false, rng);
    feed(world, b, 3000, 70, false, rng);
    walker_open(&in_a, a);
    walker_open(&in_b, b);
    walker_go(world, &in_a, world->n - 1);
    walker_go(world, &in_b, world->n - 2); /* a context without weight is no context of the sum */
    CHECK(mcct_merge(a, b));
    CHECK(world_check(world, a, &in_a, 1).wrong == NULL);
    CHECK_UINT(mcct_depth(&in_a.cursor), world->depth[world->n - 1]);
    CHECK_UINT(mcct_depth(&in_b.cursor), world->depth[world->n - 2]);
    walker_credit(world, &in_a, 5);
    CHECK(world_check(world, a, &in_a, 1).wrong == NULL);
    mcct_free(a);
    mcct_free(b);
}

/* Too little memory for both: the bounds hold all the same, wider. */
static void test_cap(struct world *world, const struct summary_kind *kind, struct rng *rng) {
    size_t cap = (160u << 10) + 1500u * kind->side_bytes;
    struct mcct *a = make(kind, 4000, cap), *b = make(kind, 4000, 0);
    world_forget(world);
    feed(world, a, 1500, 0, false, rng);
    feed(world, b, 60000, 50, false, rng);
    bool whole = mcct_merge(a, b);
    struct verdict v = expect_right(world, a);
    CHECK(v.stats.bytes <= cap);
    CHECK(v.stats.unseen > 0);
    CHECK(whole || kind == &summary_exact);
    CHECK_UINT(v.stats.capped, 0);
    mcct_free(a);
    mcct_free(b);
}

int main(void) {
    struct rng rng = {test_seed()};
    struct world world;
    world_make(&world, WORLD_BUSHY, 15013, &rng);
    static const struct summary_kind *const kinds[] = {&summary_space_saving,
                                                       &summary_space_saving_list};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int unit = 0; unit < 2; unit++) {
            test_two(&world, kinds[i], 1, 500, 500, unit, &rng);
            test_two(&world, kinds[i], 64, 20000, 20000, unit, &rng);
            test_two(&world, kinds[i], 1000, 20000, 300, unit, &rng);
            test_two(&world, kinds[i], 1000, 300, 20000, unit, &rng);
            test_two(&world, kinds[i], 1000, 300, 300, unit, &rng);
        }
        test_capacities(&world, kinds[i], &rng);
        test_many(&world, kinds[i], &rng);
    }
    test_exact(&world, &rng);
    test_empty(&world, &rng);
    test_cursors(&world, &rng);
    for (size_t i = 0; summary_kinds[i]->name != NULL; i++)
        test_cap(&world, summary_kinds[i], &rng);
    world_free(&world);
    return check_report();
}
