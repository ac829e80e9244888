/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_delta_test.c - what was gained between two moments of a stream lies within the bounds that
 * the difference of the two trees states, whatever the summary had to forget meanwhile.
 */
#include "common/tree/tree_delta.h"

#include <string.h>

#include "common/tree/summary.h"
#include "tests/check.h"
#include "tests/tree/streams.h"
#include "tests/tree/world.h"

#define CONTEXTS 3000
#define STEPS    20000

/* ---- small trees, by hand ---- */

static void feed(struct mcct_cursor *cursor, const uint32_t *frames, size_t n, uint64_t weight) {
    for (size_t i = 0; i < n; i++)
        mcct_push(cursor, frames[i]);
    mcct_credit(cursor, weight);
    mcct_pop(cursor, n);
}

static const struct copied_node *at(const struct tree_copy *copy, const uint32_t *frames,
                                    size_t n) {
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 1;
        while (k < copy->n && !(copy->node[k].parent == node && copy->node[k].frame == frames[i]))
            k++;
        if (k == copy->n)
            return NULL;
        node = (uint32_t)k;
    }
    return &copy->node[node];
}

static void test_exact(void) {
    static const uint32_t a[] = {1, 2, 3}, b[] = {1, 2}, c[] = {1, 4}, d[] = {5, 2, 3};
    const struct mcct_params params = {.epsilon = 0.01};
    struct mcct *tree = mcct_new(&params);
    struct mcct_cursor cursor;
    struct tree_copy start, end;
    mcct_cursor_open(tree, &cursor);
    feed(&cursor, a, 3, 100);
    feed(&cursor, b, 2, 10);
    CHECK(tree_copy_take(&start, tree));
    feed(&cursor, a, 3, 7);
    feed(&cursor, c, 2, 30);
    feed(&cursor, d, 3, 5); /* the same frames as a, below another one */
    CHECK(tree_copy_take(&end, tree));
    CHECK(tree_delta(&end, &start, true));
    CHECK_UINT(end.stats.total, 42);
    CHECK_UINT(end.stats.monitored, 3);
    CHECK_UINT(end.stats.unseen, 0);
    CHECK_UINT(at(&end, a, 3)->count, 7);
    CHECK_UINT(at(&end, a, 3)->error, 0);
    CHECK_UINT(at(&end, b, 2)->count, 0);
    CHECK_UINT(at(&end, c, 2)->count, 30);
    CHECK_UINT(at(&end, d, 3)->count, 5);
    tree_copy_free(&start);
    tree_copy_free(&end);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* From nothing everything is gained; from itself nothing. */
static void test_ends(void) {
    static const uint32_t a[] = {1, 2};
    const struct mcct_params params = {.epsilon = 0.01};
    struct mcct *tree = mcct_new(&params);
    struct mcct_cursor cursor;
    struct tree_copy empty, end;
    mcct_cursor_open(tree, &cursor);
    CHECK(tree_copy_take(&empty, tree));
    feed(&cursor, a, 2, 9);
    CHECK(tree_copy_take(&end, tree));
    CHECK(tree_delta(&end, &empty, true));
    CHECK_UINT(end.stats.total, 9);
    CHECK_UINT(at(&end, a, 2)->count, 9);
    struct tree_copy again;
    CHECK(tree_copy_take(&again, tree));
    tree_copy_free(&empty);
    CHECK(tree_copy_take(&empty, tree));
    CHECK(tree_delta(&again, &empty, true));
    CHECK_UINT(again.stats.total, 0);
    CHECK_UINT(again.stats.monitored, 0);
    tree_copy_free(&again);
    tree_copy_free(&empty);
    tree_copy_free(&end);
    mcct_cursor_close(&cursor);
    mcct_free(tree);
}

/* ---- streams, against true weights ---- */

static uint32_t child_of(const struct world *world, uint32_t context, uint32_t frame) {
    for (uint32_t i = 0; i < world->children[context]; i++)
        if (world_frame(world, world->first[context] + i) == frame)
            return world->first[context] + i;
    return 0;
}

struct outcome {
    unsigned wrong;   /* gains of contexts outside their bounds */
    unsigned below;   /* inclusive gains */
    unsigned self;    /* self gains by frame */
    uint64_t certain; /* what is known to have been gained, of all contexts */
};

static uint64_t certain_of(const struct tree_copy *copy) {
    uint64_t sum = 0;
    for (size_t i = 0; i < copy->n; i++)
        sum += copy->node[i].count - copy->node[i].error;
    return sum;
}

/* Inclusive gains: what is certain below a node, and what else may be there. */
static unsigned count_wrong_below(const struct world *world, const struct tree_copy *delta,
                                  const uint64_t *gained) {
    uint64_t *exact = calloc(world->n, sizeof *exact), *low = calloc(delta->n, sizeof *low);
    uint64_t *own = calloc(delta->n, sizeof *own), *above = calloc(delta->n, sizeof *above);
    uint32_t *context = calloc(delta->n, sizeof *context);
    unsigned wrong = 0;
    for (uint32_t c = world->n; c-- > 0;) {
        exact[c] += gained[c];
        if (c != 0)
            exact[world->parent[c]] += exact[c];
    }
    for (size_t i = delta->n; i-- > 0;) {
        const struct copied_node *node = &delta->node[i];
        low[i] += node->count - node->error;
        own[node->parent] += node->residual ? node->count : 0;
        if (i != 0)
            low[node->parent] += low[i];
    }
    for (size_t i = 0; i < delta->n; i++) {
        const struct copied_node *node = &delta->node[i];
        if (node->residual)
            continue;
        if (i != 0) {
            context[i] = child_of(world, context[node->parent], node->frame);
            above[i] = above[node->parent] + own[node->parent];
        }
        uint64_t high = low[i] + above[i] + (delta->stats.total - low[0]);
        wrong += exact[context[i]] < low[i] || exact[context[i]] > high;
    }
    free(exact);
    free(low);
    free(own);
    free(above);
    free(context);
    return wrong;
}

struct of_frame {
    uint64_t exact, low;
};

/* Self gains of all contexts with a frame. */
static unsigned count_wrong_self(const struct world *world, const struct tree_copy *delta,
                                 const uint64_t *gained) {
    const uint32_t frames = world->n + 1000; /* world_frame() is no larger */
    struct of_frame *of = calloc(frames, sizeof *of);
    uint64_t unplaced = delta->stats.total - certain_of(delta);
    unsigned wrong = 0;
    for (uint32_t c = 0; c < world->n; c++)
        of[c != 0 ? world_frame(world, c) : 0].exact += gained[c];
    for (size_t i = 0; i < delta->n; i++)
        of[delta->node[i].frame].low += delta->node[i].count - delta->node[i].error;
    for (uint32_t f = 0; f < frames; f++)
        wrong += of[f].exact < of[f].low || of[f].exact > of[f].low + unplaced;
    free(of);
    return wrong;
}

/* `gained`: by context. */
static struct outcome judge(const struct world *world, const struct tree_copy *delta,
                            const uint64_t *gained) {
    uint32_t *context = calloc(delta->n, sizeof *context);
    bool *shown = calloc(world->n, sizeof *shown);
    struct outcome o = {.below = count_wrong_below(world, delta, gained),
                        .self = count_wrong_self(world, delta, gained)};
    for (size_t i = 1; i < delta->n; i++) {
        const struct copied_node *node = &delta->node[i];
        if (node->residual)
            continue;
        uint32_t c = context[i] = child_of(world, context[node->parent], node->frame);
        shown[c] = node->count > 0;
        o.wrong +=
            node->count > 0 && (gained[c] > node->count || gained[c] < node->count - node->error);
    }
    o.certain = certain_of(delta);
    shown[0] = delta->node[0].count > 0;
    for (uint32_t c = 1; c < world->n; c++)
        o.wrong += !shown[c] && gained[c] > delta->stats.unseen;
    free(context);
    free(shown);
    return o;
}

static void run_steps(struct world *world, struct walker *walker, struct stream *stream,
                      const struct stream_kind *kind, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++, stream->step++) {
        uint32_t context = kind->next(stream);
        if (context == 0)
            continue;
        walker_go(world, walker, context);
        walker_credit(world, walker, 1 + rng_below(stream->rng, 50));
    }
}

static void test_stream(const struct summary_kind *summary, const struct stream_kind *kind,
                        enum world_shape shape, struct rng *rng) {
    const struct mcct_params params = {.summary = summary, .epsilon = 0.01, .seed = rng_next(rng)};
    struct mcct *tree = mcct_new(&params);
    struct world world;
    struct walker walker;
    struct tree_copy start, end, loose;
    world_make(&world, shape, CONTEXTS, rng);
    struct stream stream = {.world = &world, .capacity = 100, .steps = STEPS, .rng = rng};
    uint64_t *gained = calloc(world.n, sizeof *gained);
    walker_open(&walker, tree);
    run_steps(&world, &walker, &stream, kind, STEPS / 2 + rng_below(rng, STEPS / 4));
    CHECK(tree_copy_take(&start, tree));
    memcpy(gained, world.weight, world.n * sizeof *gained);
    run_steps(&world, &walker, &stream, kind, 1 + rng_below(rng, STEPS / 4));
    CHECK(tree_copy_take(&end, tree));
    CHECK(tree_copy_take(&loose, tree));
    for (uint32_t c = 0; c < world.n; c++)
        gained[c] = world.weight[c] - gained[c];
    CHECK(tree_delta(&end, &start, summary->certain));
    CHECK(tree_delta(&loose, &start, false));
    CHECK_UINT(end.stats.total, world.total - start.stats.total);
    struct outcome steady = judge(&world, &end, gained), careful = judge(&world, &loose, gained);
    if (steady.wrong + careful.wrong > 0)
        fprintf(stderr, "%s, %s:\n", summary->name, kind->name);
    CHECK_UINT(steady.wrong, 0);
    CHECK_UINT(careful.wrong, 0);
    CHECK_UINT(steady.below, 0);
    CHECK_UINT(careful.below, 0);
    CHECK_UINT(steady.self, 0);
    CHECK_UINT(careful.self, 0);
    CHECK_UINT(steady.certain, end.stats.total); /* all is known to be somewhere, by its frame */
    CHECK(steady.certain >= careful.certain);
    tree_copy_free(&start);
    tree_copy_free(&end);
    tree_copy_free(&loose);
    free(gained);
    mcct_cursor_close(&walker.cursor);
    mcct_free(tree);
    world_free(&world);
}

int main(void) {
    struct rng rng = {test_seed()};
    test_exact();
    test_ends();
    for (const struct summary_kind *const *s = summary_kinds; (*s)->name != NULL; s++)
        for (const struct stream_kind *k = streams; k->name != NULL; k++)
            for (int shape = 0; shape < WORLD_SHAPES; shape++)
                test_stream(*s, k, (enum world_shape)shape, &rng);
    return check_report();
}
