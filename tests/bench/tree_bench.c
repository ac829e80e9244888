/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree_bench.c - speed and size of the tree on synthetic streams of calls and returns.
 *
 * Prints million events a second, calls and returns together (a call is a push and a credit of 1),
 * bytes a node, and how many times as fast the article's tree is outrun (contest.h). The streams
 * are made beforehand; the empty loop shows what reading them costs. Figures of one run compare
 * with each other only.
 *   HCCT_BENCH_EVENTS  length (40 million)
 *   HCCT_BENCH_ROUNDS  of which the fastest counts (3)
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/contest.h"
#include "tests/tree/world.h"

#define RETURN 0u
#define DEPTH  256

/* A program: each function calls `fan` others, the first of them most often. */
struct program {
    const char *name;
    uint32_t functions, fan;
    uint32_t skew;  /* of 16: how often the choice stops at each callee in turn */
    uint32_t depth; /* about which the stack moves */
};

static const struct program programs[] = {
    {"few contexts", 200, 4, 15, 10},
    {"wide", 2000, 120, 3, 6},
    {"deep", 300, 8, 13, 25},
    {"deep, many contexts", 300, 8, 11, 40},
};

static uint32_t choose(const struct program *program, struct rng *rng) {
    uint32_t callee = 0;
    while (callee + 1 < program->fan && rng_below(rng, 16) >= program->skew)
        callee++;
    return callee;
}

static void make_stream(const struct program *program, uint32_t *stream, size_t events) {
    struct rng rng = {42};
    uint32_t stack[DEPTH] = {1}, depth = 0;
    for (size_t i = 0; i < events; i++) {
        bool call =
            depth == 0 || (depth < DEPTH - 1 && rng_below(&rng, 2 * program->depth) >= depth);
        if (!call) {
            depth--;
            stream[i] = RETURN;
            continue;
        }
        uint64_t callee = (uint64_t)stack[depth] * 31 + choose(program, &rng) * 17 + depth % 3;
        stack[++depth] = 1 + (uint32_t)(callee % program->functions);
        stream[i] = stack[depth];
    }
}

struct stream {
    const uint32_t *event;
    size_t n;
};

static double replay(const void *arg, struct mcct *tree) {
    const struct stream *stream = arg;
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    double start = contest_seconds();
    for (size_t i = 0; i < stream->n; i++) {
        if (stream->event[i] == RETURN) {
            mcct_pop(&cursor, 1);
        } else {
            mcct_push(&cursor, stream->event[i]);
            mcct_credit(&cursor, 1);
        }
    }
    double spent = contest_seconds() - start;
    mcct_cursor_close(&cursor);
    return spent;
}

static double replay_article(const void *arg, struct article_tree *tree) {
    const struct stream *stream = arg;
    double start = contest_seconds();
    for (size_t i = 0; i < stream->n; i++) {
        if (stream->event[i] == RETURN)
            article_leave(tree, 1);
        else
            article_enter(tree, stream->event[i], stream->event[i]);
    }
    return contest_seconds() - start;
}

static void measure_loop(const uint32_t *stream, size_t events) {
    uint64_t sum = 0;
    double start = contest_seconds();
    for (size_t i = 0; i < events; i++)
        sum += stream[i] == RETURN ? 1 : (sum >> 1) ^ stream[i];
    double spent = contest_seconds() - start;
    printf("  %-28s %7.1f M/s (checksum %llx)\n", "empty loop", (double)events / spent * 1e-6,
           (unsigned long long)sum);
}

static void measure(const uint32_t *events, size_t n) {
    static const struct summary_kind *const exact = &summary_exact;
    static const struct summary_kind *const lazy = &summary_filtered_space_saving;
    struct stream stream = {events, n};
    struct contest contest = {.stream = &stream,
                              .events = n,
                              .rounds = (unsigned)test_number("HCCT_BENCH_ROUNDS", 3),
                              .replay = replay,
                              .replay_article = replay_article};
    measure_loop(events, n);
    contest_hold(&contest, &exact, 1, 0);
    contest_hold(&contest, &lazy, 1, 1.0 / 50000);
    contest_hold(&contest, &lazy, 1, 1.0 / 500000);
}

int main(void) {
    size_t events = test_number("HCCT_BENCH_EVENTS", 40000000);
    uint32_t *stream = malloc(events * sizeof *stream);
    if (stream == NULL)
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        printf("%s\n", programs[i].name);
        make_stream(&programs[i], stream, events);
        measure(stream, events);
    }
    free(stream);
    return EXIT_SUCCESS;
}
