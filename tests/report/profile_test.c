/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_test.c - tables of the profile, grouping, pruning, names.
 */
#include "tests/check.h"

#include <locale.h>

#include "common/base/shorten.h"
#include "common/base/utf8.h"
#include "common/profile/profile.h"
#include "common/profile/tree_view.h"
#include "common/render/format_number.h"
#include "tests/report/sample.h"

/* The node at the end of a path of names below the root of process 1; 0: there is none. */
static uint32_t find(const struct profile *profile, const char *const *path) {
    uint32_t node = profile_root(profile, 1);
    for (; *path != NULL && node != 0; path++) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < profile->n_nodes; i++)
            if (profile->nodes[i].parent == node && strcmp(tree_name(profile, i), *path) == 0)
                next = i;
        node = next;
    }
    return node;
}

#define FIND(profile, ...) find(profile, (const char *const[]){__VA_ARGS__, NULL})

static void test_tables(void) {
    struct profile *p = profile_new();
    struct profile_process process = {.exe = "/bin/x", .command = "x"};
    uint32_t module = profile_add_module(p, "/bin/x", "ab"), root, node;
    CHECK(profile_string(p, "a") == profile_string(p, "a"));
    CHECK(profile_string(p, NULL) == profile_string(p, ""));
    CHECK_STR(profile_string(p, "a\xff\xc3\xa9\xc3"), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd");
    CHECK_STR(profile_string(p, "\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    CHECK_UINT(module, 1);
    CHECK_UINT(profile_add_module(p, "/bin/x", "ab"), module);
    CHECK(profile_add_module(p, "/bin/x", "cd") != module);
    CHECK_UINT(profile_add_function(p, "f", "_f", "f.c", 3),
               profile_add_function(p, "f", "_f", "f.c", 3));
    CHECK(profile_add_function(p, "f", "_f", "f.c", 3) !=
          profile_add_function(p, "f", "_f", "f.c", 4));
    CHECK_UINT(profile_add_location(p, module, 16, false),
               profile_add_location(p, module, 16, false));
    CHECK(profile_add_location(p, module, 16, false) != profile_add_location(p, module, 16, true));
    CHECK(profile_add_pseudo(p, "[a]") != profile_add_pseudo(p, "[b]"));
    CHECK(profile_add_pseudo(p, "[a]") != profile_add_location(p, 0, 0, true));
    CHECK_UINT(profile_add_pseudo(p, "[~]"), profile_add_pseudo(p, PROFILE_PRUNED));
    CHECK(profile_is_pruned(p, profile_add_pseudo(p, "[~]")));
    CHECK(!profile_is_pruned(p, profile_add_pseudo(p, "[a]")));

    root = profile_root(p, profile_add_process(p, &process));
    CHECK_UINT(p->nodes[root].parent, 0);
    CHECK_UINT(p->nodes[root].process, 1);
    node = profile_add_node(p, root, 1, 5, 2);
    CHECK_UINT(profile_add_node(p, root, 1, 6, 3), node);
    CHECK_UINT(p->nodes[node].count, 11);
    CHECK_UINT(p->nodes[node].error, 5);
    CHECK(profile_add_node(p, node, 1, 0, 0) != node);
    CHECK_UINT(profile_total(p), 11);
    profile_free(p);
    profile_free(NULL);
}

static void test_growth(void) {
    struct profile *p = profile_new();
    char name[32];
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i <= 50000; i++) {
            snprintf(name, sizeof name, "function%u", (unsigned)i);
            if (profile_add_function(p, name, "", "", 0) != i ||
                profile_add_location(p, 0, i * 16, false) != i)
                CHECK(!"tables keep their entries");
        }
    CHECK_UINT(p->n_functions, 50001);
    CHECK_UINT(p->n_locations, 50001);
    profile_free(p);
}

/* Leaf entries and call sites of one function are one by function, and apart by line or site. */
static void test_group_by(void) {
    struct profile *shell = sample_shell(), *p;
    uint64_t total = profile_total(shell);
    uint32_t node;
    p = profile_group(shell, PROFILE_BY_FUNCTION, 0);
    node = FIND(p, "_start", "__libc_start_main", "__libc_start_call_main", "main", "process_input",
                "runOneSqlLine", "shell_exec", "exec_prepared_stmt", "sqlite3_step", "sqlite3Step",
                "sqlite3VdbeExec");
    CHECK(node != 0);
    CHECK_UINT(p->nodes[node].count, 3412000000u);
    CHECK_UINT(p->nodes[node].error, 119000000u); /* all that stands in "[~]" may be its own */
    node = FIND(p, "_start", "__libc_start_main", "__libc_start_call_main", "main", "process_input",
                "runOneSqlLine", "shell_exec", "exec_prepared_stmt", "sqlite3_step", "sqlite3Step",
                "sqlite3VdbeExec", "sqlite3BtreeIndexMoveto", "sqlite3VdbeRecordCompareWithSkip");
    CHECK(node != 0);
    CHECK(!p->nodes[node].inlined);
    for (uint32_t i = 1; i < p->n_nodes; i++)
        if (strcmp(tree_name(p, i), "sqlite3VdbeSerialGet") == 0) {
            CHECK(p->nodes[i].inlined);
            CHECK_UINT(p->nodes[i].parent, node);
        }
    CHECK_UINT(profile_total(p), total);
    profile_free(p);

    p = profile_group(shell, PROFILE_BY_LINE, 0);
    CHECK_UINT(profile_total(p), total);
    CHECK(p->n_nodes > 40);
    profile_free(p);

    p = profile_group(shell, PROFILE_BY_MODULE, 0);
    CHECK_UINT(profile_total(p), total);
    CHECK(FIND(p, "sqlite3", "libc.so.6", "sqlite3", "libsqlite3.so.0", "libc.so.6") != 0);
    CHECK(FIND(p, "sqlite3", "sqlite3") == 0);
    profile_free(p);
    profile_free(shell);
}

/* By thread a context is its thread; weight without one is not lost. */
static void test_threads(void) {
    struct profile *p = profile_new(), *g;
    struct profile_process process = {.exe = "/bin/x", .command = "x", .runs = 1};
    uint32_t module = profile_add_module(p, "/bin/x", "");
    uint32_t threads = profile_add_module(p, PROFILE_THREADS, "");
    uint32_t root = profile_root(p, profile_add_process(p, &process)), node;
    struct profile_line line = {.function =
                                    profile_add_function(p, "[thread a]", "[thread a]", "", 0)};
    const struct profile_location place = {
        .module = threads, .is_entry = true, .n_lines = 1, .lines = &line};
    uint32_t thread = profile_intern_location(p, &place);
    uint32_t work = profile_add_location(p, module, 100, true);
    line.function = profile_add_function(p, "work", "work", "", 0);
    profile_set_lines(p, work, &line, 1);
    node = profile_add_node(p, root, thread, 1, 0);
    profile_add_node(p, node, work, 20, 0);
    profile_add_node(p, root, work, 300, 0);

    g = profile_group(p, PROFILE_BY_THREAD, 0);
    CHECK_UINT(profile_total(g), 321);
    CHECK_UINT(g->nodes[FIND(g, "[thread a]")].count, 21);
    CHECK_UINT(g->nodes[FIND(g, "[thread not recorded: see --threads]")].count, 300);
    profile_free(g);

    /* whose frames are not known may be of any */
    node = profile_add_node(p, root, profile_add_pseudo(p, PROFILE_PRUNED), 0, 0);
    profile_add_node(p, node, work, 4000, 0);
    g = profile_group(p, PROFILE_BY_THREAD, 0);
    CHECK_UINT(g->nodes[FIND(g, PROFILE_PRUNED)].count, 4000);
    CHECK_UINT(g->nodes[FIND(g, "[thread a]")].count, 21);
    CHECK_UINT(g->nodes[FIND(g, "[thread a]")].error, 4000);
    CHECK_UINT(g->nodes[FIND(g, "[thread not recorded: see --threads]")].count, 300);
    profile_free(g);

    g = profile_group(p, PROFILE_BY_MODULE, 0);
    CHECK_UINT(g->nodes[FIND(g, "[thread a]", "x")].count, 20);
    CHECK_UINT(g->nodes[FIND(g, "x")].count, 300);
    profile_free(g);
    profile_free(p);
}

/* A function that is inlined in one place and called in another is one context by name. */
static void test_inlined_and_not(void) {
    struct profile *p = profile_new(), *g;
    struct profile_process process = {.exe = "/bin/x", .command = "x", .runs = 1};
    uint32_t module = profile_add_module(p, "/bin/x", ""), node;
    uint32_t outer = profile_add_function(p, "outer", "outer", "", 0);
    uint32_t inner = profile_add_function(p, "inner", "inner", "x.c", 7);
    uint32_t inner2 = profile_add_function(p, "inner", "_inner", "", 0);
    uint32_t root = profile_root(p, profile_add_process(p, &process));
    uint32_t both = profile_add_location(p, module, 100, false);
    uint32_t call = profile_add_location(p, module, 200, false);
    uint32_t entry = profile_add_location(p, module, 300, true);
    uint32_t leaf = profile_add_pseudo(p, "[leaf]");
    profile_set_lines(p, both, (struct profile_line[]){{inner, 8}, {outer, 2}}, 2);
    profile_set_lines(p, call, (struct profile_line[]){{outer, 3}}, 1);
    profile_set_lines(p, entry, (struct profile_line[]){{inner2, 0}}, 1);
    profile_add_node(p, profile_add_node(p, root, both, 0, 0), leaf, 10, 1);
    g = profile_group(p, PROFILE_BY_FUNCTION, 0);
    CHECK(g->nodes[FIND(g, "outer", "inner")].inlined);
    profile_free(g);

    profile_add_node(p, profile_add_node(p, root, call, 0, 0), entry, 20, 2);
    g = profile_group(p, PROFILE_BY_FUNCTION, 0);
    node = FIND(g, "outer", "inner");
    CHECK_UINT(g->nodes[node].count, 20);
    CHECK(!g->nodes[node].inlined);
    CHECK_UINT(g->nodes[FIND(g, "outer", "inner", "[leaf]")].count, 10);
    CHECK_STR(g->functions[g->locations[g->nodes[node].location].lines[0].function].file, "x.c");
    CHECK_UINT(g->n_nodes, 5);
    profile_free(g);
    profile_free(p);
}

static bool is_leaf(const struct profile *profile, uint32_t node) {
    for (uint32_t i = node + 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].parent == node)
            return false;
    return true;
}

/* Whatever is kept, weights add up, kept nodes weigh enough, and nothing is twice. */
static void test_random_invariants(void) {
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct profile *p = sample_random(seed);
        uint64_t total = profile_total(p);
        for (int by = PROFILE_BY_FUNCTION; by <= PROFILE_BY_THREAD; by++) {
            double phi = (double)(seed % 5) / 50;
            struct profile *g = profile_group(p, (enum profile_by)by, phi);
            struct profile *again = profile_group(g, (enum profile_by)by, phi);
            struct profile *few = profile_keep(g, 3);
            uint64_t *inclusive = tree_inclusive(g), light = 0;
            bool *hidden = profile_find_hidden(g), *few_hidden = profile_find_hidden(few);
            uint32_t kept = 0, candidates = 0;
            CHECK_UINT(profile_total(g), total);
            CHECK_UINT(profile_total(again), total);
            CHECK_UINT(again->n_nodes, g->n_nodes);
            CHECK_UINT(profile_total(few), total);
            for (uint32_t i = 1; i < g->n_nodes; i++) {
                light +=
                    g->nodes[i].parent != 0 && (double)inclusive[i] < phi * (double)total &&
                    (double)(g->nodes[i].count + g->nodes[i].counter_error) < phi * (double)total &&
                    is_leaf(g, i) && !hidden[i];
                candidates += g->nodes[i].count > 0 && !hidden[i];
            }
            for (uint32_t i = 1; i < few->n_nodes; i++)
                kept += few->nodes[i].count > 0 && !few_hidden[i];
            CHECK_UINT(light, 0);
            CHECK(kept >= 3 || kept == candidates);
            free(inclusive);
            free(hidden);
            free(few_hidden);
            profile_free(g);
            profile_free(again);
            profile_free(few);
        }
        profile_free(p);
    }
}

static void test_deep(void) {
    struct profile *deep = sample_deep(100000), *g = profile_group(deep, PROFILE_BY_FUNCTION, 0.01);
    CHECK_UINT(profile_total(g), 1100);
    CHECK_UINT(g->n_nodes, 100002);
    profile_free(g);
    profile_free(deep);
}

static void check_short(const char *name, size_t max, const char *want) {
    char *got = shorten(name, max, "..");
    CHECK_STR(got, want);
    CHECK(max == 0 || utf8_columns(got) <= max);
    free(got);
}

/* Wide characters take two columns, and are not cut in half; in the C locale each takes one. */
static void test_wide_names(void) {
    static const char name[] = "日本語の関数の長い名前";
    CHECK_UINT(utf8_columns(name), 11);
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return;
    CHECK_UINT(utf8_columns(name), 22);
    check_short(name, 22, name);
    check_short(name, 11, "日本..名前"); /* 4 and 5 columns are for its ends */
    check_short("e\xcc\x81t\xc3\xa9", 3, "e\xcc\x81t\xc3\xa9"); /* an accent of its own */
    setlocale(LC_CTYPE, "C");
}

static void test_names(void) {
    check_short("std::vector<int>::push_back(int const&)", 0,
                "std::vector<int>::push_back(int const&)");
    check_short("std::vector<int>::push_back(int const&)", 31, "std::vector<int>::push_back(..)");
    check_short("std::map<std::vector<int>, long>::at()", 37,
                "std::map<std::vector<..>, long>::at()");
    check_short("std::map<std::vector<int>, long>::at()", 25, "std::map<..>::at()");
    check_short("bool operator< <int>(int)", 23, "bool operator< <..>(..)");
    check_short("operator->", 30, "operator->");
    check_short("<T as Trait<u8>>::call", 20, "<..>::call");
    check_short("abcdefghijklmnopqrstuvwxyz", 12, "abcd..uvwxyz");
    check_short("a\nb\033[0m\x7f\xc2\x9b", 0, "a b [0m  ");
    check_short("日本語の関数の名前", 6, "日本..名前");
    CHECK(profile_is_place_name("libx.so+0x12ab"));
    CHECK(profile_is_place_name("0x12"));
    CHECK(!profile_is_place_name("f+0x"));
    CHECK(!profile_is_place_name("operator+"));
    CHECK_STR(profile_basename("/usr/lib/libc.so.6"), "libc.so.6");
    CHECK_STR(profile_basename("[vdso]"), "[vdso]");
}

static void test_numbers(void) {
    CHECK_STR(format_count(0).text, "0");
    CHECK_STR(format_count(999).text, "999");
    CHECK_STR(format_count(1234567).text, "1,234,567");
    CHECK_STR(format_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    CHECK_STR(format_time(999).text, "999 ns");
    CHECK_STR(format_time(12340000000u).text, "12.34 s");
    CHECK_STR(format_time(7500000000000u).text, "2 h 05 min");
    CHECK_STR(format_time(UINT64_MAX).text, "5124095 h 34 min");
    CHECK_STR(format_bytes(46182).text, "45.1 KiB");
    CHECK_STR(format_share(0.5).text, "50.0 %");
    CHECK_STR(format_share(0.000031).text, "0.0031 %");
    CHECK_STR(format_share(1e-300).text, "1.0e-298 %");
}

/* A byte of no character is seen wherever it stands among those that are passed over by eight. */
static void test_utf8(void) {
    char text[40];
    CHECK(utf8_is_valid("", 0));
    for (size_t length = 1; length < sizeof text; length++) {
        memset(text, 'a', length);
        text[length] = '\0';
        CHECK(utf8_is_valid(text, length));
        for (size_t at = 0; at < length; at++) {
            text[at] = '\xc3';
            CHECK(!utf8_is_valid(text, length));
            if (at + 1 < length) {
                text[at + 1] = '\xa9';
                CHECK(utf8_is_valid(text, length));
                text[at + 1] = 'a';
            }
            text[at] = 'a';
        }
    }
}

int main(void) {
    test_utf8();
    test_tables();
    test_growth();
    test_group_by();
    test_threads();
    test_inlined_and_not();
    test_random_invariants();
    test_deep();
    test_names();
    test_wide_names();
    test_numbers();
    return check_report();
}
