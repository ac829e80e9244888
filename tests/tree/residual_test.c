/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * residual_test.c - what is refused, evicted or merged away is not lost: with every summary, all
 * weight is either certain of a context or a residual, so that inclusive weights and self weights
 * by frame have true bounds (world_check). Where there is no room, the bounds are wider.
 */
#include "common/tree/residual.h"

#include "common/tree/mcct.h"
#include "common/tree/summary.h"
#include "tests/check.h"
#include "tests/tree/world.h"

#define CONTEXTS 6000u

static void feed(struct world *world, struct mcct *tree, struct walker *walker, uint32_t steps,
                 struct rng *rng) {
    (void)tree;
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t top = UINT64_C(1) << rng_below(rng, 13);
        uint64_t context = (top + rng_below(rng, top)) * 40503u % world->n;
        walker_go(world, walker, (uint32_t)context);
        walker_credit(world, walker, 1 + rng_below(rng, 1000));
    }
}

static struct verdict expect_true(const struct world *world, const struct mcct *tree,
                                  const struct walker *walkers, unsigned n, const char *name) {
    struct verdict v = world_check(world, tree, walkers, n);
    if (v.wrong != NULL)
        fprintf(stderr, "%s: not so: %s\n", name, v.wrong);
    CHECK(v.wrong == NULL);
    return v;
}

static struct mcct *make(const struct summary_kind *kind, double epsilon, size_t max_bytes) {
    struct mcct *tree = mcct_new(&(struct mcct_params){
        .summary = kind, .epsilon = epsilon, .seed = 7, .max_bytes = max_bytes});
    CHECK(tree != NULL);
    return tree;
}

static void test_kind(struct world *world, const struct summary_kind *kind, struct rng *rng) {
    struct mcct *a = make(kind, 0.01, 0), *b = make(kind, 0.02, 0);
    struct walker in_a, in_b;
    world_forget(world);
    walker_open(&in_a, a);
    for (int i = 0; i < 5; i++) {
        feed(world, a, &in_a, 800, rng);
        struct verdict v = expect_true(world, a, &in_a, 1, kind->name);
        CHECK_UINT(v.placed, world->total);
    }
    walker_open(&in_b, b);
    feed(world, b, &in_b, 3000, rng);
    mcct_cursor_close(&in_b.cursor);
    CHECK(mcct_merge(a, b));
    struct verdict v = expect_true(world, a, &in_a, 1, kind->name);
    CHECK_UINT(v.placed, world->total);
    mcct_free(a);
    mcct_free(b);
}

/* More residuals than there may be: those of deep callers join others further up. */
static void test_full(struct world *world, struct rng *rng) {
    struct mcct *tree = make(&summary_space_saving, 0.002, 600000);
    struct walker walker;
    world_forget(world);
    walker_open(&walker, tree);
    feed(world, tree, &walker, 60000, rng);
    struct verdict v = expect_true(world, tree, &walker, 1, "little memory");
    CHECK(v.stats.bytes <= 600000);
    CHECK(v.placed > 0);
    mcct_free(tree);
}

static bool add_up(void *arg, uint32_t frame, uint64_t weight) {
    (void)frame;
    *(uint64_t *)arg += weight;
    return true;
}

/* A deep path with many residuals at its end goes: each moves once, and not once a level. */
static void test_deep(void) {
    enum { DEPTH = 30000, FAN = 8000, OTHERS = 20000 };
    for (const struct summary_kind *const *kind = summary_kinds; (*kind)->bounded; kind++) {
        struct mcct *tree = make(*kind, 0.001, 0);
        struct mcct_cursor cursor;
        struct mcct_stats stats;
        uint64_t sum = 0;
        mcct_cursor_open(tree, &cursor);
        for (uint32_t i = 0; i < DEPTH; i++)
            mcct_push(&cursor, 5 + i % 2);
        for (uint32_t i = 0; i < FAN; i++) {
            mcct_push(&cursor, 100 + i);
            mcct_credit(&cursor, 2);
            mcct_pop(&cursor, 1);
        }
        mcct_pop(&cursor, DEPTH);
        for (uint32_t i = 1; i <= OTHERS; i++) {
            mcct_push(&cursor, 10 + i % 3000);
            mcct_credit(&cursor, i);
            mcct_pop(&cursor, 1);
        }
        CHECK(mcct_residuals(tree, MCCT_ROOT, add_up, &sum));
        mcct_stats(tree, &stats);
        CHECK(stats.nodes <= 1001);
        CHECK(sum >= 2u * FAN / 2); /* there is no room for all */
        mcct_cursor_close(&cursor);
        mcct_free(tree);
    }
}

int main(void) {
    struct rng rng = {test_seed()};
    test_deep();
    for (enum world_shape shape = 0; shape < WORLD_SHAPES; shape++) {
        struct world world;
        world_make(&world, shape, CONTEXTS, &rng);
        for (const struct summary_kind *const *kind = summary_kinds; (*kind)->name != NULL; kind++)
            test_kind(&world, *kind, &rng);
        test_full(&world, &rng);
        world_free(&world);
    }
    return check_report();
}
