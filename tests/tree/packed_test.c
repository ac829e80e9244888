/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed_test.c - trees without nodes, against true weights in an array: the bounds, whatever comes
 * and however it comes, and the way from nodes to words and back.
 */
#include "tests/check.h"

#include "common/tree/batch.h"
#include "common/tree/packed.h"
#include "common/tree/summary.h"
#include "common/tree/tree.h"
#include "tests/tree/streams.h"

#define KINDS 2
static const struct summary_kind *const kinds[KINDS] = {&summary_filtered_space_saving,
                                                        &summary_exact};

static struct mcct *make(const struct summary_kind *kind, double epsilon, size_t max_bytes) {
    struct mcct *tree = mcct_new(
        &(struct mcct_params){.summary = kind, .epsilon = epsilon, .max_bytes = max_bytes});
    if (tree == NULL)
        abort();
    return tree;
}

/* ---- a walker whose calls go through batches ---- */

struct caller {
    struct walker walker;
    struct mcct_batch *batch; /* NULL: none is open */
    struct mcct_batch_level *level;
};

static void end(struct caller *caller) {
    mcct_batch_end(caller->batch, caller->level);
    caller->batch = NULL;
}

static void begin(struct caller *caller) {
    if (caller->batch == NULL)
        caller->batch = mcct_batch_begin(&caller->walker.cursor, &caller->level);
    if (caller->batch == NULL)
        abort();
}

static void push_down(const struct world *world, struct caller *caller, uint32_t top,
                      uint32_t context) {
    if (context == top)
        return;
    push_down(world, caller, top, world->parent[context]);
    caller->level = mcct_batch_push(caller->batch, caller->level, world_frame(world, context));
}

/* So many calls of the context. */
static void call(struct world *world, struct caller *caller, uint32_t context, uint64_t times) {
    uint32_t common = caller->walker.at, other = context;
    uint64_t left;
    begin(caller);
    while (common != other) {
        if (world->depth[common] >= world->depth[other])
            common = world->parent[common];
        else
            other = world->parent[other];
    }
    uint32_t up = world->depth[caller->walker.at] - world->depth[common];
    caller->level = mcct_batch_pop(caller->batch, caller->level, up, &left);
    push_down(world, caller, common, context);
    for (uint64_t i = 0; i < times; i++)
        caller->level = mcct_batch_credit(caller->batch, caller->level);
    caller->walker.at = context;
    world->weight[context] += times;
    world->total += times;
}

/* So many calls, of some contexts much more often than of others; the last batch has ended. */
static void call_often(struct world *world, struct caller *caller, uint64_t steps,
                       struct rng *rng) {
    struct stream stream = {world, 0, 0, steps, rng};
    for (; stream.step < steps; stream.step++)
        call(world, caller, 1 + stream_zipf(&stream) % (world->n - 1), 1);
    end(caller);
}

/* ---- the bounds ---- */

static struct verdict check(const struct world *world, const struct mcct *tree) {
    struct verdict v = world_check(world, tree, NULL, 0);
    if (v.wrong != NULL)
        fprintf(stderr, "not so: %s\n", v.wrong);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.above, 0);
    CHECK(v.missing <= v.stats.unseen);
    CHECK(v.error <= v.stats.unseen);
    CHECK_UINT(v.stats.total, world->total);
    CHECK_UINT(v.stats.capped, 0);
    return v;
}

static void check_packed(const struct world *world, const struct mcct *tree) {
    CHECK(tree->packed != NULL);
    struct verdict v = check(world, tree);
    CHECK(tree->packed != NULL);
    CHECK(v.sum <= world->total);
    CHECK_UINT(v.placed, world->total);
    if (tree->kind == &summary_exact) {
        CHECK_UINT(v.stats.unseen, 0);
        CHECK_UINT(v.sum, world->total);
    } else {
        CHECK(v.stats.unseen <= world->total / tree->capacity);
        CHECK(v.stats.unseen == 0 || v.stats.monitored == tree->capacity);
        CHECK(v.stats.unseen == 0 || v.least >= v.stats.unseen);
    }
}

static void run(struct world *world, const struct summary_kind *kind,
                const struct stream_kind *what, uint32_t capacity, struct rng *rng) {
    enum { CALLERS = 3 };
    struct mcct *tree = make(kind, 1.0 / capacity, 0);
    struct caller callers[CALLERS] = {0};
    struct stream stream = {world, capacity, 0, 12000, rng};
    world_forget(world);
    for (unsigned i = 0; i < CALLERS; i++)
        walker_open(&callers[i].walker, tree);
    for (; stream.step < stream.steps; stream.step++) {
        struct caller *caller = &callers[stream.step / 100 % CALLERS];
        uint32_t context = what->next(&stream);
        if (context != 0)
            call(world, caller, context, 1 + rng_below(rng, 3));
        if (stream.step % 100 == 99 || rng_below(rng, 40) == 0)
            end(caller);
        if (stream.step % 3000 == 2999)
            check_packed(world, tree);
    }
    for (unsigned i = 0; i < CALLERS; i++)
        mcct_cursor_close(&callers[i].walker.cursor);
    check_packed(world, tree);
    mcct_free(tree);
}

static void test_streams(struct rng *rng) {
    static const uint32_t size[WORLD_SHAPES] = {9001, 20011, 3001}, capacity[] = {1, 10, 257};
    for (unsigned shape = 0; shape < WORLD_SHAPES; shape++) {
        struct world world;
        world_make(&world, shape, size[shape], rng);
        for (const struct stream_kind *what = streams; what->name != NULL; what++)
            for (size_t k = 0; k < KINDS; k++)
                for (size_t c = 0; c < 3; c++)
                    run(&world, kinds[k], what, capacity[c], rng);
        world_free(&world);
    }
}

/* Counts that are no small numbers, weights that need more than a word, logs that fill up. */
static void test_large_counts(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    struct caller caller = {0};
    struct mcct *tree = make(kind, 0.1, 0);
    world_make(&world, WORLD_BUSHY, 60, rng);
    walker_open(&caller.walker, tree);
    for (unsigned i = 0; i < 4000; i++) {
        uint32_t context = 1 + (uint32_t)rng_below(rng, world.n - 1);
        call(&world, &caller, context, rng_below(rng, 100) + (i % 50 == 0) * 200000);
        if (i % 3 == 0)
            end(&caller);
        if (i % 500 == 0) {
            end(&caller);
            check_packed(&world, tree);
        }
    }
    end(&caller);
    check_packed(&world, tree);
    mcct_cursor_close(&caller.walker.cursor);
    mcct_free(tree);
    world_free(&world);
}

/* More contexts than the memory has room for: what is there keeps its bounds. */
static void test_cap(const struct summary_kind *kind, struct rng *rng) {
    enum { MAX_BYTES = 17 << 20 };
    struct world world;
    struct caller caller = {0};
    struct mcct_stats stats;
    struct mcct *tree = make(kind, 1e-7, MAX_BYTES);
    world_make(&world, WORLD_BUSHY, 1500000, rng);
    walker_open(&caller.walker, tree);
    for (uint32_t i = 0; i < 2000000; i++) {
        call(&world, &caller, 1 + i * UINT64_C(7919) % (world.n - 1), 1 + i % 3);
        if (i % 500000 == 0) {
            end(&caller);
            mcct_stats(tree, &stats);
            CHECK(stats.bytes <= MAX_BYTES);
        }
    }
    end(&caller);
    CHECK(tree->packed != NULL);
    struct verdict v = check(&world, tree);
    CHECK(v.stats.unseen > 0);
    CHECK(v.stats.bytes <= MAX_BYTES);
    CHECK(v.stats.monitored > MAX_BYTES / 100);
    mcct_cursor_close(&caller.walker.cursor);
    mcct_free(tree);
    world_free(&world);
}

/* More contexts than a processor keeps at hand: more words come together before they are added, as
 * long as there is memory for them. */
static void test_large(const struct summary_kind *kind, size_t max_bytes, struct rng *rng) {
    enum { CONTEXTS = 2500000, CAPACITY = 1100000, STEPS = 5000000 };
    struct world world;
    struct caller caller = {0};
    struct mcct *tree = make(kind, 1.0 / CAPACITY, max_bytes);
    size_t gathered = 0; /* words, beyond the contexts that were stored */
    size_t most = 0;     /* bytes */
    world_make(&world, WORLD_BUSHY, CONTEXTS, rng);
    walker_open(&caller.walker, tree);
    for (uint64_t i = 0; i < STEPS; i++) {
        call(&world, &caller, 1 + i * 7919 % (world.n - 1), 1 + i % 3);
        const struct packed *packed = tree->packed;
        if (packed->store.n > CAPACITY && packed->log.added > packed->store.n + gathered)
            gathered = packed->log.added - packed->store.n;
        most = tree->budget.used > most ? tree->budget.used : most;
    }
    end(&caller);
    check_packed(&world, tree);
    CHECK((gathered > CAPACITY / 2) == (max_bytes == 0));
    CHECK(max_bytes == 0 || most <= max_bytes);
    mcct_cursor_close(&caller.walker.cursor);
    mcct_free(tree);
    world_free(&world);
}

/* ---- to nodes and from nodes ---- */

static void check_nodes(const struct world *world, const struct mcct *tree,
                        const struct walker *one, const struct walker *other) {
    struct verdict v = world_check(world, tree, (struct walker[]){*one, *other}, 2);
    CHECK(v.wrong == NULL);
    CHECK_UINT(v.above, 0);
    CHECK_UINT(v.placed, world->total);
}

/* Two thirds of it in batches; then a weight that comes by itself; then batches again. */
static void test_unpacking(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    struct caller caller = {0};
    struct walker other;
    struct mcct *tree = make(kind, 0.01, 0);
    world_make(&world, WORLD_BUSHY, 5000, rng);
    struct stream stream = {&world, 100, 0, 9000, rng};
    walker_open(&caller.walker, tree);
    walker_open(&other, tree);
    walker_go(&world, &other, 77);
    for (; stream.step < stream.steps; stream.step++) {
        call(&world, &caller, 1 + stream_zipf(&stream) % (world.n - 1), 1);
        if (stream.step == 6000) {
            end(&caller);
            check_packed(&world, tree);
            walker_credit(&world, &other, 123);
            CHECK(tree->packed == NULL);
            check_nodes(&world, tree, &caller.walker, &other);
        }
    }
    end(&caller);
    CHECK(tree->packed == NULL);
    check_nodes(&world, tree, &caller.walker, &other);
    mcct_cursor_close(&caller.walker.cursor);
    mcct_cursor_close(&other.cursor);
    mcct_free(tree);
    world_free(&world);
}

/* What an empty tree has when this one was merged into it. */
static struct verdict check_merged(const struct world *world, const struct summary_kind *kind,
                                   const struct mcct *tree) {
    struct mcct *sum = make(kind, 0.01, 0);
    CHECK(mcct_merge(sum, tree));
    struct verdict v = check(world, sum);
    CHECK_UINT(v.placed, world->total);
    mcct_free(sum);
    return v;
}

/* The same contexts, counts and errors when there are nodes; and again as words. */
static void test_there_and_back(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    struct caller caller = {0};
    struct mcct *tree = make(kind, 0.01, 0);
    world_make(&world, WORLD_BUSHY, 5000, rng);
    walker_open(&caller.walker, tree);
    call_often(&world, &caller, 5000, rng);
    uint64_t left;
    begin(&caller);
    caller.level = mcct_batch_pop(caller.batch, caller.level, 1000, &left);
    caller.walker.at = 0;
    end(&caller);
    check_packed(&world, tree);
    struct verdict packed = check(&world, tree);
    struct verdict merged = check_merged(&world, kind, tree);
    CHECK(tree->packed != NULL); /* who reads a tree leaves its form alone */
    packed_end(tree);
    CHECK(tree->packed == NULL);
    struct verdict nodes = check(&world, tree);
    struct verdict merged_nodes = check_merged(&world, kind, tree);
    CHECK_UINT(merged.sum, merged_nodes.sum);
    CHECK_UINT(merged.error, merged_nodes.error);
    CHECK_UINT(merged.stats.nodes, merged_nodes.stats.nodes);
    CHECK_UINT(merged.stats.unseen, merged_nodes.stats.unseen);
    begin(&caller);
    end(&caller);
    CHECK(tree->packed != NULL);
    struct verdict again = check(&world, tree);
    CHECK_UINT(nodes.sum, packed.sum);
    CHECK_UINT(nodes.error, packed.error);
    CHECK_UINT(nodes.stats.nodes, packed.stats.nodes);
    CHECK_UINT(nodes.stats.unseen, packed.stats.unseen);
    CHECK_UINT(again.sum, packed.sum);
    CHECK_UINT(again.error, packed.error);
    CHECK_UINT(again.stats.nodes, packed.stats.nodes);
    CHECK_UINT(again.stats.monitored, packed.stats.monitored);
    CHECK_UINT(again.stats.unseen, packed.stats.unseen);
    for (unsigned i = 0; i < 5000; i++)
        call(&world, &caller, 1 + (uint32_t)rng_below(rng, world.n - 1), 1);
    end(&caller);
    check_packed(&world, tree);
    mcct_cursor_close(&caller.walker.cursor);
    mcct_free(tree);
    world_free(&world);
}

/* What is kept does not depend on queries. */
static void test_reading(struct rng *rng) {
    struct world world;
    struct verdict v[2];
    uint64_t seed = rng_next(rng);
    world_make(&world, WORLD_BUSHY, 60000, rng);
    for (unsigned often = 0; often < 2; often++) {
        struct mcct *tree = make(&summary_filtered_space_saving, 1.0 / 3000, 0);
        struct caller caller = {0};
        struct rng again = {seed};
        struct stream stream = {&world, 3000, 0, 400000, &again};
        world_forget(&world);
        walker_open(&caller.walker, tree);
        for (; stream.step < stream.steps; stream.step++) {
            call(&world, &caller, 1 + stream_zipf(&stream) % (world.n - 1), 1);
            if (stream.step % 20000 == 0)
                end(&caller);
            if (often && stream.step % 20000 == 0)
                check_packed(&world, tree);
        }
        end(&caller);
        v[often] = check(&world, tree);
        mcct_cursor_close(&caller.walker.cursor);
        mcct_free(tree);
    }
    CHECK(v[0].stats.unseen > 0);
    CHECK_UINT(v[1].stats.unseen, v[0].stats.unseen);
    CHECK_UINT(v[1].stats.nodes, v[0].stats.nodes);
    CHECK_UINT(v[1].stats.bytes, v[0].stats.bytes);
    CHECK_UINT(v[1].sum, v[0].sum);
    CHECK_UINT(v[1].error, v[0].error);
    world_free(&world);
}

static void test_merging(const struct summary_kind *kind, struct rng *rng) {
    struct world world;
    struct mcct *sum = make(kind, 0.01, 0);
    world_make(&world, WORLD_BUSHY, 5000, rng);
    for (unsigned t = 0; t < 5; t++) {
        struct mcct *one = make(kind, 0.01, 0);
        struct caller caller = {0};
        walker_open(&caller.walker, one);
        call_often(&world, &caller, 3000, rng);
        mcct_cursor_close(&caller.walker.cursor);
        CHECK(mcct_merge(sum, one));
        struct verdict v = check(&world, sum);
        CHECK(kind == &summary_exact ? v.sum == world.total
                                     : v.stats.unseen <= world.total / sum->capacity);
        mcct_free(one);
    }
    mcct_free(sum);
    world_free(&world);
}

int main(void) {
    struct rng rng = {test_seed()};
    test_streams(&rng);
    for (size_t k = 0; k < KINDS; k++) {
        test_large_counts(kinds[k], &rng);
        test_unpacking(kinds[k], &rng);
        test_there_and_back(kinds[k], &rng);
        test_merging(kinds[k], &rng);
    }
    test_reading(&rng);
    test_cap(&summary_filtered_space_saving, &rng);
    test_cap(&summary_exact, &rng);
    test_large(&summary_filtered_space_saving, 0, &rng);
    test_large(&summary_filtered_space_saving, 52 << 20, &rng);
    return check_report();
}
