/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * encoding_test.c - codes are those of Ball and Larus: along all paths to a function the sums are
 * different and fill the range from 0 on; the heaviest edge has code 0; of a recursion the lightest
 * edge has none. And when a new encoding is due.
 */
#include "tests/encode/programs.h"

#include "tests/check.h"

#define PATHS_MAX 20000u

/* ---- sums of all paths ---- */

struct sums {
    const struct call_edges *graph;
    const struct encoding *encoding;
    uint32_t node; /* whose paths are counted */
    uint64_t paths, wrong;
    uint8_t seen[PATHS_MAX];
};

/* Forward, from a function that the root has reached with that sum. */
static void follow(struct sums *s, uint32_t at, uint64_t sum) {
    if (at == s->node) {
        s->paths++;
        s->wrong += sum >= PATHS_MAX || s->seen[sum]++ != 0;
    }
    for (uint32_t e = 1; e <= s->graph->edges; e++)
        if (s->graph->edge[e].caller == at && encoding_code(s->encoding, e) != ENCODING_NO_CODE)
            follow(s, s->graph->edge[e].callee, sum + encoding_code(s->encoding, e));
}

static void check_sums(const struct call_edges *graph, const struct encoding *encoding,
                       bool from_root) {
    static struct sums s;
    for (uint32_t node = 1; node < graph->nodes; node++) {
        if (encoding->contexts[node] >= PATHS_MAX)
            continue;
        memset(&s, 0, sizeof s);
        s = (struct sums){.graph = graph, .encoding = encoding, .node = node};
        follow(&s, CALL_EDGES_ROOT, 0);
        CHECK_UINT(s.wrong, 0);
        if (from_root)
            CHECK_UINT(s.paths, encoding->contexts[node]);
        else
            CHECK(s.paths <= encoding->contexts[node]);
    }
}

/* Few functions, so that the paths can be counted. */
static void test_sums(void) {
    for (uint64_t seed = 1; seed <= check_rounds(300); seed++) {
        struct call_edges graph = {0};
        struct program p = {.random = seed};
        uint32_t n = 2 + (uint32_t)program_random(&p, 6);
        for (uint32_t i = 1; i < n; i++) /* each has a path from the root */
            call_edges_number(&graph, (uint32_t)program_random(&p, i), 0, i);
        for (uint64_t i = program_random(&p, 20); i > 0; i--)
            call_edges_number(&graph, (uint32_t)program_random(&p, n), program_random(&p, 9),
                              (uint32_t)program_random(&p, n));
        for (uint32_t e = 1; e <= graph.edges; e++)
            graph.edge[e].weight = program_random(&p, 5);
        struct encoding *encoding = encoding_make(&graph, 64);
        CHECK_UINT(encoding->out_of_range, 0);
        CHECK_UINT(encoding->encoded + encoding->circles, graph.edges);
        check_sums(&graph, encoding, encoding->circles == 0);
        encoding_free(encoding);
        call_edges_free(&graph);
    }
}

/* ---- which edge has which code ---- */

static uint32_t weighed(struct call_edges *graph, uint32_t caller, uint64_t site, uint32_t callee,
                        uint64_t weight) {
    uint32_t edge = call_edges_number(graph, caller, site, callee);
    graph->edge[edge].weight = weight;
    return edge;
}

static void test_heaviest_is_free(void) {
    struct call_edges graph = {0};
    weighed(&graph, CALL_EDGES_ROOT, 0, 1, 1);
    uint32_t light = weighed(&graph, 1, 1, 2, 5), heavy = weighed(&graph, 1, 2, 2, 9),
             middle = weighed(&graph, 1, 3, 2, 7);
    CHECK_UINT(weighed(&graph, 1, 2, 2, 9), heavy);
    struct encoding *encoding = encoding_make(&graph, 64);
    CHECK_UINT(encoding_code(encoding, heavy), 0);
    CHECK_UINT(encoding_code(encoding, middle), 1);
    CHECK_UINT(encoding_code(encoding, light), 2);
    CHECK_UINT(encoding->max_id, 2);
    CHECK_UINT(encoding_last_edge(encoding, 2, 1), middle);
    CHECK_UINT(encoding_last_edge(encoding, 2, 3), CALL_EDGES_NONE);
    CHECK_UINT(encoding_last_edge(encoding, 7, 0), CALL_EDGES_NONE);
    encoding_free(encoding);
    encoding = encoding_make(&graph, 2); /* sums 0 and 1 */
    CHECK_UINT(encoding_code(encoding, middle), 1);
    CHECK_UINT(encoding_code(encoding, light), ENCODING_NO_CODE);
    CHECK_UINT(encoding->out_of_range, 1);
    CHECK_UINT(encoding->max_id, 1);
    encoding_free(encoding);
    call_edges_free(&graph);
}

/* 1 -> 2 -> 3 -> 1, of which one edge is the lightest. */
static void test_recursion(void) {
    for (uint32_t lightest = 0; lightest < 3; lightest++) {
        struct call_edges graph = {0};
        uint32_t edge[3];
        weighed(&graph, CALL_EDGES_ROOT, 0, 1, 1);
        for (uint32_t i = 0; i < 3; i++)
            edge[i] = weighed(&graph, i + 1, i, (i + 1) % 3 + 1, i == lightest ? 10 : 20);
        uint32_t itself = weighed(&graph, 1, 9, 1, 100), root = weighed(&graph, 1, 9, 0, 100);
        struct encoding *encoding = encoding_make(&graph, 64);
        for (uint32_t i = 0; i < 3; i++)
            CHECK((encoding_code(encoding, edge[i]) == ENCODING_NO_CODE) == (i == lightest));
        CHECK_UINT(encoding_code(encoding, itself), ENCODING_NO_CODE);
        CHECK_UINT(encoding_code(encoding, root), ENCODING_NO_CODE);
        CHECK_UINT(encoding->circles, 3);
        encoding_free(encoding);
        call_edges_free(&graph);
    }
}

/* A ladder of n functions with two calls each: 2^n contexts. */
static void test_range(void) {
    for (unsigned bits = 2; bits <= 64; bits += 31) {
        struct call_edges graph = {0};
        for (uint32_t i = 0; i < 100; i++) {
            weighed(&graph, i, 0, i + 1, 2);
            weighed(&graph, i, 1, i + 1, i == 0 ? 0 : 1);
        }
        struct encoding *encoding = encoding_make(&graph, bits);
        CHECK_UINT(encoding->max_id, (1ull << (bits - 1)) - 1);
        CHECK_UINT(encoding->encoded, 100 + bits - 1);
        CHECK_UINT(encoding->out_of_range, 100 - (bits - 1));
        encoding_free(encoding);
        call_edges_free(&graph);
    }
}

/* ---- when ---- */

#define CALLERS 10u

/* Function 1 calls 2 from some sites. */
static void call_often(struct adaptive *a, struct context *c, uint32_t edge, uint32_t times) {
    for (uint32_t i = 0; i < times; i++) {
        if (context_call(c, &a->graph, adaptive_now(a), edge) >= CONTEXT_PUSHED)
            adaptive_push(a, edge);
        adaptive_sample(a, edge);
        context_return(c, &a->graph, adaptive_now(a), edge);
    }
}

static void test_when(void) {
    struct adaptive a;
    struct context c = {0};
    uint32_t edge[CALLERS];
    adaptive_start(&a, 64);
    context_call(&c, &a.graph, adaptive_now(&a), call_edges_number(&a.graph, 0, 0, 1));
    for (uint32_t i = 0; i < CALLERS; i++)
        edge[i] = call_edges_number(&a.graph, 1, i, 2);
    CHECK(!adaptive_is_due(&a));
    call_often(&a, &c, edge[0], 1000);
    CHECK(!adaptive_is_due(&a));
    call_often(&a, &c, edge[0], 100);
    CHECK(adaptive_is_due(&a)); /* often by the stack, though there are few new edges */
    struct context_path path = {0};
    const struct encoding *before = adaptive_now(&a);
    adaptive_renew(&a);
    CHECK_UINT(adaptive_time(&a), 1);
    CHECK(context_translate(&c, &a.graph, before, adaptive_now(&a), &path));
    CHECK_UINT(c.depth, 0);
    call_often(&a, &c, edge[0], 5000);
    CHECK(!adaptive_is_due(&a)); /* its code is 0 */
    CHECK_UINT(encoding_code(adaptive_now(&a), edge[0]), 0);
    for (uint32_t i = 0; i < 60 && !adaptive_is_due(&a); i++)
        call_often(&a, &c, edge[7], 100);
    CHECK(!adaptive_is_due(&a)); /* another phase, in which its code is not 0; but of all ... */
    for (uint32_t i = 0; i < 60 && !adaptive_is_due(&a); i++)
        call_often(&a, &c, edge[7], 100);
    CHECK(adaptive_is_due(&a)); /* ... it has become the heaviest */
    before = adaptive_now(&a);
    adaptive_renew(&a);
    CHECK(context_translate(&c, &a.graph, before, adaptive_now(&a), &path));
    CHECK_UINT(encoding_code(adaptive_now(&a), edge[7]), 0);
    call_often(&a, &c, edge[7], 5000);
    CHECK(!adaptive_is_due(&a));
    for (uint32_t i = 0; i < 15; i++)
        call_edges_number(&a.graph, 2, i, 3);
    CHECK(!adaptive_is_due(&a));
    call_edges_number(&a.graph, 2, 15, 3);
    CHECK(adaptive_is_due(&a)); /* many new edges */
    context_path_free(&path);
    context_free(&c);
    adaptive_end(&a);
}

int main(void) {
    test_sums();
    test_heaviest_is_free();
    test_recursion();
    test_range();
    test_when();
    return check_report();
}
