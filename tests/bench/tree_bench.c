/*
 * tree_bench.c - speed and size of the tree on synthetic streams of calls and returns.
 *
 * Prints million events a second, calls and returns together (a call is a push and a credit of 1),
 * and bytes a node. The streams are made beforehand; the empty loop shows what reading them costs.
 * Figures of one run compare with each other only. HCCT_BENCH_EVENTS: length, default 40 million.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/tree/mcct.h"
#include "daemon/tree/summary.h"
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

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void replay(struct mcct *tree, const uint32_t *stream, size_t events) {
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (size_t i = 0; i < events; i++) {
        if (stream[i] == RETURN) {
            mcct_pop(&cursor, 1);
        } else {
            mcct_push(&cursor, stream[i]);
            mcct_credit(&cursor, 1);
        }
    }
    mcct_cursor_close(&cursor);
}

static void measure(const char *name, double epsilon, const struct summary_kind *kind,
                    const uint32_t *stream, size_t events) {
    struct mcct_stats stats;
    struct mcct *tree = mcct_new(&(struct mcct_params){.summary = kind, .epsilon = epsilon});
    if (tree == NULL)
        abort();
    double start = seconds();
    replay(tree, stream, events);
    double spent = seconds() - start;
    mcct_stats(tree, &stats);
    printf("  %-24s %7.1f M/s %10llu nodes %9llu monitored %6.1f bytes/node\n", name,
           (double)events / spent * 1e-6, (unsigned long long)stats.nodes,
           (unsigned long long)stats.monitored, (double)stats.bytes / (double)stats.nodes);
    mcct_free(tree);
}

static void measure_loop(const uint32_t *stream, size_t events) {
    uint64_t sum = 0;
    double start = seconds();
    for (size_t i = 0; i < events; i++)
        sum += stream[i] == RETURN ? 1 : (sum >> 1) ^ stream[i];
    double spent = seconds() - start;
    printf("  %-24s %7.1f M/s (checksum %llx)\n", "empty loop", (double)events / spent * 1e-6,
           (unsigned long long)sum);
}

int main(void) {
    size_t events = test_number("HCCT_BENCH_EVENTS", 40000000);
    uint32_t *stream = malloc(events * sizeof *stream);
    if (stream == NULL)
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        printf("%s\n", programs[i].name);
        make_stream(&programs[i], stream, events);
        measure_loop(stream, events);
        measure("exact", 0.5, &summary_exact, stream, events);
        measure("space-saving 1/50,000", 1.0 / 50000, &summary_space_saving, stream, events);
        measure("space-saving 1/500,000", 1.0 / 500000, &summary_space_saving, stream, events);
    }
    free(stream);
    return EXIT_SUCCESS;
}
