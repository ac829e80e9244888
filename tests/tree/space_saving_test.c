/*
 * space_saving_test.c - what lazy Space Saving guarantees, on streams of every kind, against true
 * weights in an array.
 */
#include "tests/check.h"

#include "daemon/tree/summary.h"
#include "tests/tree/world.h"

#define WALKERS 5

/* ---- which context is next ---- */

struct stream {
    const struct world *world;
    uint32_t capacity;
    uint64_t step, steps;
    struct rng *rng;
};

static uint32_t uniform(const struct stream *s) {
    return (uint32_t)rng_below(s->rng, s->world->n);
}

/* Rank r with a probability near 1/r: log-uniform. */
static uint32_t zipf(const struct stream *s) {
    uint64_t top = UINT64_C(1) << rng_below(s->rng, 64 - (unsigned)__builtin_clzll(s->world->n));
    return (uint32_t)((top + rng_below(s->rng, top)) * 2654435761u % s->world->n);
}

/* The worst for Space Saving: each comes back just after it was evicted. */
static uint32_t round_robin(const struct stream *s) {
    return (uint32_t)(s->step % (s->capacity + 1) * 7919 % s->world->n);
}

static uint32_t all_distinct(const struct stream *s) {
    return (uint32_t)(s->step % s->world->n);
}

/* Noise for two thirds of the time, then three contexts nobody has seen take over. */
static uint32_t late_hot(const struct stream *s) {
    uint32_t third = s->world->n / 3;
    if (s->step < s->steps / 3 * 2)
        return (uint32_t)rng_below(s->rng, 2 * third);
    return rng_below(s->rng, 2) ? 2 * third + (uint32_t)rng_below(s->rng, 3) * 11 : uniform(s);
}

/* Phases: what is hot moves on. */
static uint32_t drifting(const struct stream *s) {
    uint64_t phase = s->step * 8 / s->steps;
    return rng_below(s->rng, 3) ? (uint32_t)((phase * 1009 + rng_below(s->rng, 20)) % s->world->n)
                                : uniform(s);
}

static const struct {
    const char *name;
    uint32_t (*next)(const struct stream *s);
} streams[] = {
    {"uniform", uniform},           {"zipf", zipf},         {"round robin", round_robin},
    {"all distinct", all_distinct}, {"late hot", late_hot}, {"drifting", drifting},
};

/* ---- how much it gains ---- */

static uint64_t one(struct rng *rng) {
    (void)rng;
    return 1;
}

static uint64_t nanoseconds(struct rng *rng) {
    return 900000 + rng_below(rng, 200000);
}

static uint64_t wild(struct rng *rng) {
    uint64_t bits = rng_below(rng, 44);
    return 1 + rng_below(rng, UINT64_C(1) << bits);
}

static uint64_t (*const weights[])(struct rng *) = {one, nanoseconds, wild};

/* ---- the guarantees ---- */

static struct mcct *make(double epsilon) {
    struct mcct *tree = mcct_new(&(struct mcct_params){.epsilon = epsilon});
    if (tree == NULL)
        abort();
    return tree;
}

static void check_guarantees(const struct world *world, const struct mcct *tree,
                             const struct walker *walkers, const char *name) {
    struct verdict v = world_check(world, tree, walkers, WALKERS);
    if (v.wrong != NULL)
        fprintf(stderr, "stream \"%s\": not so: %s\n", name, v.wrong);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.sum, world->total);
    CHECK(v.stats.unseen <= v.least);
    CHECK(v.stats.unseen <= world->total / v.stats.capacity);
    CHECK(v.error <= v.stats.unseen);
    CHECK(v.stats.monitored == v.stats.capacity || v.stats.unseen == 0);
}

static void run(struct world *world, size_t kind, uint64_t (*weight)(struct rng *),
                uint32_t capacity, uint64_t steps, struct rng *rng) {
    struct mcct *tree = make(1.0 / capacity);
    struct walker walkers[WALKERS];
    struct stream stream = {world, capacity, 0, steps, rng};
    world_forget(world);
    for (unsigned i = 0; i < WALKERS; i++)
        walker_open(&walkers[i], tree);
    for (; stream.step < steps; stream.step++) {
        struct walker *walker = &walkers[rng_below(rng, WALKERS)];
        walker_go(world, walker, streams[kind].next(&stream));
        walker_credit(world, walker, weight(rng));
        if (stream.step % (steps / 4) == steps / 7)
            check_guarantees(world, tree, walkers, streams[kind].name);
    }
    check_guarantees(world, tree, walkers, streams[kind].name);
    for (unsigned i = 0; i < WALKERS; i++)
        mcct_cursor_close(&walkers[i].cursor);
    check_guarantees(world, tree, walkers, streams[kind].name);
    mcct_free(tree);
}

static void test_streams(struct rng *rng) {
    static const uint32_t size[WORLD_SHAPES] = {9001, 20011, 3001}, capacity[] = {1, 10, 257};
    for (unsigned shape = 0; shape < WORLD_SHAPES; shape++) {
        struct world world;
        world_make(&world, shape, size[shape], rng);
        uint64_t steps = shape == WORLD_DEEP ? 4000 : 20000;
        for (size_t kind = 0; kind < sizeof streams / sizeof *streams; kind++)
            for (size_t w = 0; w < sizeof weights / sizeof *weights; w++)
                for (size_t c = 0; c < sizeof capacity / sizeof *capacity; c++)
                    run(&world, kind, weights[w], capacity[c], steps, rng);
        world_free(&world);
    }
}

/* ---- the victim is the least, every time ---- */

static void step_and_compare(struct world *world, struct mcct *tree, struct walker *walker,
                             uint64_t weight) {
    struct mcct_view view;
    mcct_view(tree, walker->cursor.node, &view);
    struct verdict before = world_check(world, tree, walker, 1);
    walker_credit(world, walker, weight);
    struct mcct_stats after;
    mcct_stats(tree, &after);
    if (view.monitored || before.stats.monitored < before.stats.capacity) {
        CHECK_UINT(after.unseen, before.stats.unseen);
        return;
    }
    CHECK_UINT(after.unseen, before.least);
    mcct_view(tree, walker->cursor.node, &view);
    CHECK(view.monitored);
    CHECK_UINT(view.error, before.least);
    CHECK_UINT(view.count, before.least + weight);
}

static void test_least(struct rng *rng) {
    struct world world;
    world_make(&world, WORLD_BUSHY, 300, rng);
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
        struct mcct *tree = make(1.0 / 33);
        struct walker walker;
        struct stream stream = {&world, 33, 0, 0, rng};
        world_forget(&world);
        walker_open(&walker, tree);
        for (int i = 0; i < 6000; i++) {
            walker_go(&world, &walker, zipf(&stream));
            step_and_compare(&world, tree, &walker, weights[w](rng));
        }
        mcct_cursor_close(&walker.cursor);
        mcct_free(tree);
    }
    world_free(&world);
}

/* ---- the edges ---- */

static void test_saturation(void) {
    struct mcct *tree = make(0.5);
    struct mcct_cursor cursor;
    struct mcct_stats stats;
    struct mcct_view view;
    mcct_cursor_open(tree, &cursor);
    for (uint32_t frame = 1; frame <= 3; frame++) {
        mcct_push(&cursor, frame);
        mcct_credit(&cursor, UINT64_MAX - frame);
        mcct_credit(&cursor, UINT64_MAX - frame);
        mcct_view(tree, cursor.node, &view);
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
        struct mcct *tree = make(cases[i].epsilon);
        struct mcct_stats stats;
        mcct_stats(tree, &stats);
        CHECK_UINT(stats.capacity, cases[i].capacity);
        mcct_free(tree);
    }
}

int main(void) {
    struct rng rng = {test_seed()};
    test_streams(&rng);
    test_least(&rng);
    test_saturation();
    test_capacity();
    return check_report();
}
