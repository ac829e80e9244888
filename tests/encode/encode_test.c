/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encode_test.c - contexts of random programs, decoded at each step, are what the threads have
 * called: with few bits, with new encodings at any moment, and by encodings of long ago. What is no
 * context is not decoded, or to a path of the graph.
 */
#include "tests/encode/programs.h"

#include "tests/check.h"

#define SEEDS    3000u
#define STEPS    600u
#define RECORDED 64u

/* A context that was written down, and decoded when the program has ended. */
struct recorded {
    struct context context;
    struct context_path path;
    uint32_t time;
};

struct run {
    struct program program;
    struct adaptive adaptive;
    struct program_thread thread[PROGRAM_THREADS_MAX];
    uint32_t threads, n_recorded;
    struct recorded recorded[RECORDED];
    struct context_path decoded;
    uint64_t wrong, checked, renewed, out_of_range, repeated;
};

static struct run run;

static void record(const struct program_thread *t) {
    struct recorded *r = &run.recorded[run.n_recorded++ % RECORDED];
    context_copy(&r->context, &t->context);
    r->time = adaptive_time(&run.adaptive);
    context_path_copy(&r->path, &t->path);
}

static void renew(void) {
    const struct encoding *before = adaptive_now(&run.adaptive);
    adaptive_renew(&run.adaptive);
    for (uint32_t i = 0; i < run.threads; i++)
        run.wrong += !context_translate(&run.thread[i].context, &run.adaptive.graph, before,
                                        adaptive_now(&run.adaptive), &run.decoded);
    run.renewed++;
    run.out_of_range += adaptive_now(&run.adaptive)->out_of_range;
}

static void check_thread(const struct program_thread *t) {
    const struct context *c = &t->context;
    run.checked++;
    run.wrong += !program_is_right(t, &run.adaptive, &run.decoded);
    run.repeated += c->depth > 0 && c->stack[c->depth - 1].repeats > 0;
    run.wrong += c->id > 2 * adaptive_now(&run.adaptive)->max_id + 1;
}

static void decode_recorded(void) {
    for (uint32_t i = 0; i < run.n_recorded && i < RECORDED; i++) {
        struct recorded *r = &run.recorded[i];
        run.checked++;
        run.wrong += !context_decode(&r->context, &run.adaptive.graph,
                                     run.adaptive.encoding[r->time], &run.decoded) ||
                     !context_path_equal(&run.decoded, &r->path);
    }
}

static void clean_up(void) {
    for (uint32_t i = 0; i < PROGRAM_THREADS_MAX; i++) {
        context_free(&run.thread[i].context);
        context_path_free(&run.thread[i].path);
    }
    for (uint32_t i = 0; i < RECORDED; i++) {
        context_free(&run.recorded[i].context);
        context_path_free(&run.recorded[i].path);
    }
    adaptive_end(&run.adaptive);
    run.n_recorded = 0;
}

static void execute(uint64_t seed) {
    static const unsigned bits[] = {64, 64, 32, 8, 4, 3, 2};
    struct program *p = &run.program;
    program_make(p, seed);
    run.threads = 1 + (uint32_t)program_random(p, PROGRAM_THREADS_MAX);
    adaptive_start(&run.adaptive, bits[seed % (sizeof bits / sizeof *bits)]);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct program_thread *t = &run.thread[program_random(p, run.threads)];
        program_step(p, t, &run.adaptive);
        check_thread(t);
        if (program_random(p, 20) == 0)
            record(t);
        if (adaptive_is_due(&run.adaptive) || program_random(p, 150) == 0)
            renew();
        if (program_random(p, 100) == 0)
            p->hot = (uint32_t)program_random(p, p->sites);
    }
    for (uint32_t i = 0; i < run.threads; i++)
        check_thread(&run.thread[i]);
    decode_recorded();
}

static void test_programs(void) {
    uint64_t seeds = check_rounds(SEEDS);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t before = run.wrong;
        execute(seed);
        if (run.wrong != before)
            fprintf(stderr, "seed %llu is wrong\n", (unsigned long long)seed);
        clean_up();
    }
    CHECK_UINT(run.wrong, 0);
    CHECK(run.checked > seeds * STEPS);
    CHECK(run.renewed > seeds * 3);
    CHECK(run.out_of_range > seeds);
    CHECK(run.repeated > seeds);
}

/* ---- what is no context ---- */

/* Consecutive calls, from the root to the function. */
static bool is_path(const struct call_edges *graph, const struct context_path *path,
                    uint32_t node) {
    uint32_t at = CALL_EDGES_ROOT;
    for (uint32_t i = 0; i < path->n; i++) {
        if (graph->edge[path->edge[i]].caller != at)
            return false;
        at = graph->edge[path->edge[i]].callee;
    }
    return at == node;
}

static void spoil(struct program *p, struct context *c) {
    uint64_t random = p->random * 0x9e3779b97f4a7c15ull;
    switch (program_random(p, c->depth > 0 ? 6 : 2)) {
    case 0:
        c->id = program_random(p, 2) == 0 ? random : c->id + program_random(p, 3) - 1;
        break;
    case 1:
        c->node = (uint32_t)program_random(p, PROGRAM_FUNCTIONS_MAX + 2);
        break;
    case 2:
        c->stack[program_random(p, c->depth)].id = program_random(p, 100);
        break;
    case 3:
        c->stack[program_random(p, c->depth)].edge = (uint32_t)program_random(p, 500);
        break;
    case 4:
        c->stack[program_random(p, c->depth)].repeats += (uint32_t)program_random(p, 5);
        break;
    default:
        c->depth--;
    }
}

static void test_spoiled(void) {
    uint64_t decoded = 0, refused = 0, no_path = 0;
    for (uint64_t seed = 1; seed <= check_rounds(SEEDS / 10); seed++) {
        execute(seed);
        for (uint32_t i = 0; i < 200; i++) {
            struct context context = {0};
            context_copy(&context, &run.thread[0].context);
            for (uint64_t n = program_random(&run.program, 3); n < 3; n++)
                spoil(&run.program, &context);
            bool is_right = context_decode(&context, &run.adaptive.graph,
                                           adaptive_now(&run.adaptive), &run.decoded);
            decoded += is_right;
            refused += !is_right;
            no_path += is_right && !is_path(&run.adaptive.graph, &run.decoded, context.node);
            context_free(&context);
        }
        clean_up();
    }
    CHECK_UINT(no_path, 0);
    CHECK(decoded > 100);
    CHECK(refused > 100);
}

/* A stack that says so many repetitions that nobody has memory for the path. */
static void test_endless(void) {
    struct adaptive a;
    struct context context = {0};
    adaptive_start(&a, 64);
    uint32_t first = call_edges_number(&a.graph, CALL_EDGES_ROOT, 0, 1);
    uint32_t again = call_edges_number(&a.graph, 1, 1, 1);
    context_call(&context, &a.graph, adaptive_now(&a), first);
    for (uint32_t i = 0; i < 1000; i++)
        context_call(&context, &a.graph, adaptive_now(&a), again);
    CHECK_UINT(context.depth, 2);
    CHECK(context_decode(&context, &a.graph, adaptive_now(&a), &run.decoded));
    CHECK_UINT(run.decoded.n, 1001);
    context.stack[context.depth - 1].repeats = UINT32_MAX;
    CHECK(!context_decode(&context, &a.graph, adaptive_now(&a), &run.decoded));
    context_free(&context);
    adaptive_end(&a);
}

static bool is_told(const struct adaptive *a, const struct context *context, uint64_t id) {
    struct context spoiled = *context;
    spoiled.id = id;
    return context_decode(&spoiled, &a->graph, adaptive_now(a), &run.decoded);
}

/* Numbers that no calls lead to, though they are in the range. */
static void test_refused(void) {
    struct adaptive a;
    struct context context = {0};
    adaptive_start(&a, 64);
    call_edges_number(&a.graph, CALL_EDGES_ROOT, 0, 1);
    uint32_t first = call_edges_number(&a.graph, CALL_EDGES_ROOT, 1, 1);
    adaptive_renew(&a);
    CHECK_UINT(adaptive_now(&a)->max_id, 1);
    context_call(&context, &a.graph, adaptive_now(&a), first);
    CHECK(is_told(&a, &context, 0) && is_told(&a, &context, 1));
    CHECK(!is_told(&a, &context, 2)); /* says that it begins on the stack, which is empty */
    for (uint32_t i = 0; i < 2; i++)
        context_call(&context, &a.graph, adaptive_now(&a),
                     call_edges_number(&a.graph, 1 + i, 0, 2 - i));
    CHECK_UINT(context.depth, 2);
    CHECK_UINT(context.node, 1);
    CHECK(is_told(&a, &context, 2));
    CHECK(!is_told(&a, &context, 0)); /* does not say so, and the stack has two calls */
    CHECK(!is_told(&a, &context, 3)); /* something is left where the path begins */
    CHECK(!is_told(&a, &context, 4));
    context_free(&context);
    adaptive_end(&a);
}

int main(void) {
    test_programs();
    test_spoiled();
    test_endless();
    test_refused();
    context_path_free(&run.decoded);
    return check_report();
}
