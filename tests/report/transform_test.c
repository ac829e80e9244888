/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transform_test.c - each rewriting of contexts by hand, all of them on any profile: the sum of all
 * weights stays, and what was to go is gone.
 */
#include "common/profile/transform.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/filter.h"
#include "common/render/format.h"
#include "tests/check.h"
#include "tests/report/sample.h"

static struct profile *small(void) {
    struct profile *profile = sample_none();
    profile_add_process(profile,
                        &(struct profile_process){.exe = "/usr/bin/app", .command = "app"});
    profile->unit = profile_string(profile, "nanoseconds");
    profile->type = profile_string(profile, "cpu");
    sample_add(profile, 1, "main@app/f/g/f/g/f", 10, 0);
    sample_add(profile, 1, "main@app/f/f/h", 100, 0);
    sample_add(profile, 1, "main@app/f/memcpy@libc.so/memmove", 1000, 0);
    sample_add(profile, 1, "main@app/h/write@libc.so/sort@app/read@libc.so", 10000, 0);
    sample_add(profile, 1, "start@app/h", 100000, 0);
    return profile;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its folded lines, in order, without the process. */
static char *folded(const struct profile *profile) {
    char *text = NULL, *line[64], *sorted, *rest;
    size_t bytes = 0, n = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(format_write(format_find("folded"), out, profile, &format_default_options));
    fclose(out);
    for (char *at = strtok_r(text, "\n", &rest); at != NULL && n < 64;
         at = strtok_r(NULL, "\n", &rest))
        line[n++] = strchr(at, ';') != NULL ? strchr(at, ';') + 1 : at;
    qsort(line, n, sizeof line[0], by_text);
    out = open_memstream(&sorted, &bytes);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i > 0 ? "|" : "", line[i]);
    fclose(out);
    free(text);
    return sorted;
}

static void expect_of(struct profile *from, const struct transform *transform, const char *want) {
    struct profile *profile = transform_apply(from, transform, PROFILE_BY_FUNCTION);
    char *got = folded(profile);
    CHECK_STR(got, want);
    free(got);
    profile_free(profile);
}

static void expect(const struct transform *transform, const char *want) {
    expect_of(small(), transform, want);
}

/* What stands in a frame that is not known may be of any: it is nowhere for certain. */
static struct profile *some_hidden(void) {
    struct profile *profile = small();
    sample_add(profile, 1, "main@app/f/" PROFILE_PRUNED, 1000000, 0);
    return profile;
}

static void test_hidden(void) {
    expect_of(some_hidden(), &(struct transform){.root = "^h$"},
              "[not in focus] 1010|[~] 1000000|h 100100|h;write;sort;read 10000");
    expect_of(some_hidden(), &(struct transform){.root = "^f$"},
              "[not in focus] 110000|f;[~] 1000000|f;f;h 100|f;g;f;g;f 10|f;memcpy;memmove 1000");
    expect_of(some_hidden(), &(struct transform){.recursion = true},
              "main;[~] 1000000|main;f 10|main;f;h 100|main;f;memcpy;memmove 1000|"
              "main;h;write;sort;read 10000|start;h 100000");
    struct profile *deep = sample_none();
    profile_add_process(deep, &(struct profile_process){.exe = "/usr/bin/app", .command = "app"});
    sample_add(deep, 1, "main@app/f/g/f/" PROFILE_PRUNED "/h/f", 1, 0);
    sample_add(deep, 1, "main@app/f/g/" PROFILE_PRUNED, 10, 0);
    sample_add(deep, 1, PROFILE_PRUNED "/h", 100, 0);
    expect_of(deep, &(struct transform){.recursion = true}, "[~];h 100|main;[~] 10|main;[~];h;f 1");
    struct profile *known = small();
    sample_add(known, 1, "main@app/f/" PROFILE_PRUNED "/k", 1000000, 0);
    expect_of(known, &(struct transform){.root = "^k$"}, "[not in focus] 111110|k;[~];k 1000000");
    struct profile *profile =
        transform_apply(some_hidden(), &(struct transform){.recursion = true}, PROFILE_BY_FUNCTION);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count == 100)
            CHECK_UINT(profile->nodes[i].error, 1000000);
    profile_free(profile);
}

static void test_each(void) {
    expect(&(struct transform){0}, "main;f;f;h 100|main;f;g;f;g;f 10|main;f;memcpy;memmove 1000|"
                                   "main;h;write;sort;read 10000|start;h 100000");
    expect(&(struct transform){.merge = "^(f|write)$"},
           "main;g;g 10|main;h 100|main;h;sort;read 10000|main;memcpy;memmove 1000|start;h 100000");
    expect(&(struct transform){.root = "^h$"},
           "[not in focus] 1010|h 100100|h;write;sort;read 10000");
    expect(&(struct transform){.collapse = "libc"},
           "main;f;f;h 100|main;f;g;f;g;f 10|main;f;libc.so 1000|"
           "main;h;libc.so;sort;libc.so 10000|start;h 100000");
    expect(&(struct transform){.recursion = true},
           "main;f 10|main;f;h 100|main;f;memcpy;memmove 1000|main;h;write;sort;read 10000|"
           "start;h 100000");
    expect(&(struct transform){.invert = true},
           "f;g;f;g;f;main 10|h;f;f;main 100|h;start 100000|memmove;memcpy;f;main 1000|"
           "read;sort;write;h;main 10000");
    expect(&(struct transform){.merge = "sort", .root = "^h$", .collapse = "libc", .invert = true},
           "[not in focus] 1010|h 100100|libc.so;h 10000");
}

static uint64_t weight_of(const struct profile *profile) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        sum += profile->nodes[i].count;
    return sum;
}

/* By name: is it on the stack twice, as far as frames are known? */
static bool recurs(const struct profile *profile, uint32_t node) {
    for (uint32_t at = profile->nodes[node].parent;
         profile->nodes[at].parent != 0 && !profile_is_pruned(profile, profile->nodes[at].location);
         at = profile->nodes[at].parent)
        if (profile->nodes[at].location == profile->nodes[node].location)
            return true;
    return false;
}

static void test_any(const struct transform *transform, struct profile *profile) {
    uint64_t before = weight_of(profile);
    profile = transform_apply(profile, transform, PROFILE_BY_FUNCTION);
    CHECK_UINT(weight_of(profile), before);
    bool *gone =
        transform->merge != NULL ? filter_match_locations(profile, transform->merge) : NULL;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        CHECK(profile->nodes[i].parent < i);
        CHECK(gone == NULL || !gone[profile->nodes[i].location]);
        CHECK(!transform->recursion || transform->invert || profile->nodes[i].parent == 0 ||
              !recurs(profile, i));
    }
    free(gone);
    profile_free(profile);
}

int main(void) {
    static const struct transform some[] = {
        {.no_system_calls = true},
        {.merge = "e"},
        {.root = "a"},
        {.collapse = "lib"},
        {.recursion = true},
        {.invert = true},
        {.merge = "e", .root = "a", .collapse = "bin", .recursion = true, .invert = true},
    };
    test_each();
    test_hidden();
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        test_any(&some[i], sample_shell());
        test_any(&some[i], sample_hard());
        test_any(&some[i], sample_empty());
        test_any(&some[i], sample_deep(300));
        for (uint64_t seed = 1; seed <= 20; seed++)
            test_any(&some[i], sample_random(seed));
    }
    return check_report();
}
