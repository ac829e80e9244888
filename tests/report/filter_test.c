/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter_test.c - contexts that are asked for stay, the rest is in one place, weights add up to N.
 */
#include "tests/check.h"

#include <stdlib.h>

#include "common/profile/filter.h"
#include "common/profile/tree_view.h"
#include "tests/report/sample.h"

struct place {
    const char *function, *file, *module;
    unsigned line;
};

/* main -> parse -> read (inlined: at one location), main -> draw -> read, main's own. */
static struct profile *make_profile(void) {
    static const struct place places[] = {{"main", "/src/main.c", "/bin/app", 10},
                                          {"parse", "/src/parse.c", "/bin/app", 20},
                                          {"draw", "", "/lib/libdraw.so", 0},
                                          {"read", "/src/io.c", "/lib/libio.so", 33}};
    const struct profile_process process = {.exe = "/bin/app", .command = "app"};
    struct profile *p = profile_new();
    uint32_t at[4], root = profile_root(p, profile_add_process(p, &process));
    for (uint32_t i = 0; i < 4; i++) {
        struct profile_line line = {.line = places[i].line};
        line.function =
            profile_add_function(p, places[i].function, places[i].function, places[i].file, 1);
        at[i] = profile_add_location(p, profile_add_module(p, places[i].module, ""), 16 * i, false);
        profile_set_lines(p, at[i], &line, 1);
    }
    uint32_t main_node = profile_add_node(p, root, at[0], 5, 1);
    uint32_t parse = profile_add_node(p, main_node, at[1], 10, 2);
    uint32_t draw = profile_add_node(p, main_node, at[2], 20, 3);

    profile_add_node(p, parse, at[3], 40, 4);
    profile_add_node(p, draw, at[3], 80, 5);
    return p;
}

/* Self weight of all contexts whose innermost frame has that name. */
static uint64_t weight_of(const struct profile *profile, const char *name) {
    uint64_t weight = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (strcmp(tree_name(profile, i), name) == 0)
            weight += profile->nodes[i].count;
    return weight;
}

/* main, parse, draw, read, [not in focus], [ignored] */
static void check_weights(const char *focus, const char *ignore, const uint64_t want[6]) {
    static const char *const names[] = {"main",        "parse", "draw", "read", FILTER_NOT_IN_FOCUS,
                                        FILTER_IGNORED};
    struct profile *p = make_profile(), *filtered = profile_filter(p, focus, ignore);
    for (unsigned i = 0; i < 6; i++)
        CHECK_UINT(weight_of(filtered, names[i]), want[i]);
    CHECK_UINT(profile_total(filtered), profile_total(p));
    profile_free(filtered);
    profile_free(p);
}

#define WEIGHTS(...) ((const uint64_t[6]){__VA_ARGS__})

static void test_what_stays(void) {
    check_weights(NULL, NULL, WEIGHTS(5, 10, 20, 120, 0, 0));
    check_weights("parse", NULL, WEIGHTS(0, 10, 0, 40, 105, 0));
    check_weights(NULL, "parse", WEIGHTS(5, 0, 20, 80, 0, 50));
    check_weights("read", "draw", WEIGHTS(0, 0, 0, 40, 15, 100));
    check_weights("^rea", NULL, WEIGHTS(0, 0, 0, 120, 35, 0));
    check_weights("io\\.c:33$", NULL, WEIGHTS(0, 0, 0, 120, 35, 0));
    check_weights("libdraw", NULL, WEIGHTS(0, 0, 20, 80, 55, 0));
    check_weights("parse|draw", NULL, WEIGHTS(0, 10, 20, 120, 5, 0));
    check_weights("nothing of the kind", NULL, WEIGHTS(0, 0, 0, 0, 155, 0));
    check_weights(".", ".", WEIGHTS(0, 0, 0, 0, 0, 155));
}

static void sum_errors(const struct profile *p, uint64_t *error, uint64_t *counter_error) {
    for (uint32_t i = 1; i < p->n_nodes; i++) {
        *error += p->nodes[i].error;
        *counter_error += p->nodes[i].counter_error;
    }
}

/* Contexts by what stands at their locations, as by expressions. */
static void test_by_location(void) {
    struct profile *p = make_profile();
    bool *matched = filter_match_locations(p, "parse");
    struct profile *filtered = profile_ignore(p, matched);
    CHECK_UINT(weight_of(filtered, "parse"), 0);
    CHECK_UINT(weight_of(filtered, "read"), 80);
    CHECK_UINT(weight_of(filtered, FILTER_IGNORED), 50);
    CHECK_UINT(profile_total(filtered), profile_total(p));
    free(matched);
    profile_free(filtered);
    profile_free(p);
}

/* What holds for any profile: nothing is lost, of weight or of error. */
static void test_sums(void) {
    static const char *const words[] = {NULL, "a", "f1", "^m", "[xyz]"};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct profile *p = sample_random(seed);
        for (uint32_t i = 1; i < p->n_nodes; i++)
            p->nodes[i].counter_error = p->nodes[i].error / 2;
        struct profile *filtered = profile_filter(p, words[seed % 5], words[seed / 5 % 5]);
        uint64_t error[2] = {0}, counter_error[2] = {0};

        sum_errors(p, &error[0], &counter_error[0]);
        sum_errors(filtered, &error[1], &counter_error[1]);
        CHECK_UINT(counter_error[1], counter_error[0]);
        CHECK_UINT(profile_total(filtered), profile_total(p));
        CHECK_UINT(error[1], error[0]);
        CHECK_UINT(filtered->n_processes, p->n_processes);
        profile_free(filtered);
        profile_free(p);
    }
}

static void test_check(void) {
    char error[300] = "";
    CHECK(filter_check("a(b|c)+", error, sizeof error));
    CHECK_STR(error, "");
    CHECK(!filter_check("a(b", error, sizeof error));
    CHECK(strncmp(error, "'a(b' is no regular expression: ", 32) == 0);
    CHECK(strlen(error) > 32);
}

/* What the C library would take all memory for. */
static void test_too_large(void) {
    static const char *const large[] = {"a++++++++++++++++++++++++++++++++++++++++",
                                        "((((x{255}){255}){255}){255}){255}"};
    char error[300];
    if (check_rounds(10) < 10) /* a sanitizer takes address space of its own */
        return;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        CHECK(!filter_check(large[i], error, sizeof error));
        CHECK(strstr(error, "is no regular expression: ") != NULL);
    }
    CHECK(filter_check("^std::vec(tor)?<[[:alpha:]]{1,30}, [](+*{]+>::f+$", error, sizeof error));
}

int main(void) {
    test_what_stays();
    test_by_location();
    test_sums();
    test_check();
    test_too_large();
    return check_report();
}
