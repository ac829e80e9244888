/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * graph_test.c - callers and callees: recursion, what is left out, and the formats made of them.
 */
#include "tests/check.h"

#include <inttypes.h>

#include "common/render/call_graph.h"
#include "common/render/dot_choose.h"
#include "common/render/format.h"
#include "tests/report/sample.h"

static struct profile *one_process(void) {
    struct profile *profile = profile_new();
    struct profile_process process = {.exe = "/bin/app", .command = "app", .pid = 5, .runs = 1};
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile_add_process(profile, &process);
    return profile;
}

static char *written(const char *format, const struct profile *profile,
                     const struct format_options *options) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(format_find(format)->write(out, profile, options));
    fclose(out);
    return text;
}

static uint32_t find(const struct call_graph *graph, const char *name, uint32_t level) {
    for (uint32_t i = 1; i < graph->n_vertices; i++)
        if (strcmp(graph->frames[graph->vertices[i].frame].name, name) == 0 &&
            graph->vertices[i].level == level)
            return i;
    return 0;
}

/* The edge between two functions of level 1; one without weight, when there is none. */
static struct call_edge edge(const struct call_graph *graph, const char *caller,
                             const char *callee) {
    for (uint32_t i = 1; i < graph->n_edges; i++)
        if (graph->edges[i].caller == find(graph, caller, 1) &&
            graph->edges[i].callee == find(graph, callee, 1))
            return graph->edges[i];
    return (struct call_edge){0};
}

static struct profile *recursive(void) {
    struct profile *profile = one_process();
    sample_add(profile, 1, "main@app/f/g/f/g/f", 10, 1);
    sample_add(profile, 1, "main@app/f/g", 5, 0);
    sample_add(profile, 1, "main@app/f/f/h", 100, 2);
    return profile;
}

static void test_recursion_of_places(void) {
    struct profile *profile = recursive();
    struct profile *grouped = profile_group(profile, PROFILE_BY_FUNCTION, 0);
    struct call_graph graph;
    call_graph_make(&graph, grouped, CALL_GRAPH_OF_PLACES);
    CHECK_UINT(graph.n_vertices, 6);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].inclusive, 115);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].self, 10);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].inclusive_error, 0);
    CHECK_UINT(graph.vertices[find(&graph, "g", 1)].inclusive, 15);
    CHECK_UINT(edge(&graph, "main", "f").weight, 115);
    CHECK_UINT(edge(&graph, "f", "g").weight, 15);
    CHECK_UINT(edge(&graph, "f", "g").contexts, 2);
    CHECK_UINT(edge(&graph, "g", "f").weight, 10);
    CHECK_UINT(edge(&graph, "f", "f").weight, 100);
    CHECK_UINT(edge(&graph, "f", "h").weight, 100);
    call_graph_free(&graph);
    profile_free(grouped);
    profile_free(profile);
}

static void test_recursion_of_functions(void) {
    struct profile *profile = recursive();
    struct profile *grouped = profile_group(profile, PROFILE_BY_LINE, 0);
    struct call_graph graph;
    call_graph_make(&graph, grouped, CALL_GRAPH_OF_FUNCTIONS);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].inclusive, 115);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].self, 0);
    CHECK_UINT(graph.vertices[find(&graph, "f", 2)].inclusive, 110);
    CHECK_UINT(graph.vertices[find(&graph, "f", 3)].inclusive, 10);
    CHECK_UINT(graph.vertices[find(&graph, "f", 3)].self, 10);
    CHECK_UINT(find(&graph, "f", 4), 0);
    CHECK_UINT(graph.vertices[find(&graph, "h", 1)].inclusive, 100);
    call_graph_free(&graph);
    profile_free(grouped);
    profile_free(profile);
}

/* The symbol table's f and that of debug information are one function; another library's isn't. */
static void test_one_function(void) {
    struct profile *profile = one_process();
    struct profile *grouped;
    struct call_graph graph;
    sample_add(profile, 1, "main@app/f:7/g", 10, 0);
    sample_add(profile, 1, "main@app/f:9/g", 10, 0);
    sample_add(profile, 1, "main@app/f@libf.so", 1, 0);
    grouped = profile_group(profile, PROFILE_BY_LINE, 0);
    call_graph_make(&graph, grouped, CALL_GRAPH_OF_FUNCTIONS);
    CHECK_UINT(graph.n_vertices, 6);
    CHECK_UINT(graph.vertices[find(&graph, "f", 1)].inclusive, 20);
    call_graph_free(&graph);
    profile_free(grouped);
    profile_free(profile);
}

static void test_stepping_over(void) {
    struct profile *profile = one_process(), *grouped;
    struct call_graph graph;
    bool kept[8];
    sample_add(profile, 1, "main@app/a/b/c", 10, 0);
    sample_add(profile, 1, "main@app/c", 5, 0);
    sample_add(profile, 1, "main@app/a/x/b", 2, 0);
    grouped = profile_group(profile, PROFILE_BY_FUNCTION, 0);
    call_graph_make(&graph, grouped, CALL_GRAPH_OF_PLACES);
    CHECK_UINT(graph.n_vertices, 7);
    memset(kept, true, sizeof kept);
    kept[find(&graph, "a", 1)] = kept[find(&graph, "b", 1)] = false;
    call_graph_connect(&graph, kept);
    CHECK_UINT(edge(&graph, "main", "c").weight, 15);
    CHECK(edge(&graph, "main", "c").gap);
    CHECK_UINT(edge(&graph, "main", "x").weight, 2);
    CHECK(edge(&graph, "main", "x").gap);
    CHECK(!edge(&graph, "app", "main").gap);
    CHECK_UINT(graph.n_edges, 4);
    call_graph_free(&graph);
    profile_free(grouped);
    profile_free(profile);
}

/* Own costs are N, and what goes through no call more. */
static void check_callgrind(const struct profile *profile, const struct format_options *options) {
    uint64_t total = profile_total(profile), sum = 0, summary = 0, totals = 0;
    char *text = written("callgrind", profile, options), *rest = text;
    int positions = options->by == PROFILE_BY_SITE ? 2 : 1;
    bool call = false;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        sscanf(line, "summary: %" SCNu64, &summary);
        sscanf(line, "totals: %" SCNu64, &totals);
        if (*line >= '0' && *line <= '9') {
            uint64_t cost;
            for (int i = 0; i < positions; i++)
                line = strchr(line, ' ') + 1;
            cost = strtoull(line, NULL, 10);
            CHECK(cost <= total);
            sum += call ? 0 : cost;
        }
        call = strncmp(line, "calls=", 6) == 0;
        CHECK(!call || (line[6] >= '1' && line[6] <= '9'));
    }
    CHECK_UINT(sum, total);
    CHECK_UINT(summary, total);
    CHECK_UINT(totals, total);
    free(text);
}

static uint64_t number(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Self weights of the boxes and what is said to be in none; how many boxes there are. */
static unsigned check_dot(const struct profile *profile, const struct format_options *options) {
    uint64_t total = profile_total(profile), sum = 0;
    char *text = written("dot", profile, options);
    unsigned boxes = 0;
    CHECK_UINT(number(text, "hcct_total="), total);
    for (const char *at = text; (at = strstr(at, "hcct_self=")) != NULL; at++, boxes++) {
        sum += number(at, "hcct_self=");
        CHECK(number(at, "hcct_inclusive=") <= total);
    }
    CHECK_UINT(sum + number(text, "hcct_hidden=") + number(text, "hcct_pruned="), total);
    free(text);
    return boxes;
}

static void test_sums(void) {
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct profile *profile = sample_random(seed);
        struct format_options options = format_default_options;
        options.by = (enum profile_by)(seed % 4);
        options.n = (unsigned)(seed % 7);
        check_callgrind(profile, &options);
        check_dot(profile, &options);
        profile_free(profile);
    }
}

static void test_shapes(void) {
    struct profile *profiles[] = {sample_none(), sample_empty(), sample_deep(3000), sample_hard(),
                                  profile_new()};
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        check_callgrind(profiles[i], &format_default_options);
        check_dot(profiles[i], &format_default_options);
        profile_free(profiles[i]);
    }
}

/* Many functions of which each has 1 % or more below it: a chain, and ways that part. */
static void test_crowd(void) {
    struct profile *profile = one_process();
    struct format_options options = format_default_options;
    char frames[4096] = "main@app", name[16];
    char *text;
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "/step%d", i);
        strcat(frames, name);
    }
    sample_add(profile, 1, frames, 100000, 0);
    strcpy(frames, "main@app/step0/step1/side");
    sample_add(profile, 1, frames, 5000, 0);
    CHECK_UINT(check_dot(profile, &options), DOT_VERTICES_MAX);
    text = written("dot", profile, &options);
    CHECK(strstr(text, "hcct_function=\"side\"") != NULL);    /* has weight */
    CHECK(strstr(text, "hcct_function=\"step1\"") != NULL);   /* where ways part */
    CHECK(strstr(text, "hcct_function=\"step149\"") != NULL); /* has weight */
    CHECK(strstr(text, "style=dashed") != NULL);
    CHECK(strstr(text, "not drawn for want of room: 73 more") != NULL);
    free(text);
    options.cut = 0.001;
    CHECK_UINT(check_dot(profile, &options), 153);
    profile_free(profile);
}

int main(void) {
    test_recursion_of_places();
    test_recursion_of_functions();
    test_one_function();
    test_stepping_over();
    test_sums();
    test_shapes();
    test_crowd();
    return check_report();
}
