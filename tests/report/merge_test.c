/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge_test.c - the bounds of sums against known trees, and what can't be added up.
 */
#include "tests/check.h"

#include "common/profile/merge.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"
#include "tests/report/forest.h"

#define PARTS 3

static struct profile *merge(struct profile *const parts[], size_t n) {
    char error[512] = "";
    size_t bad = 0;
    struct profile *sum =
        merge_profiles((const struct profile *const *)parts, n, &bad, error, sizeof error);
    for (size_t i = 0; i < n; i++)
        profile_free(parts[i]);
    CHECK_STR(error, "");
    return sum;
}

/* Every context of the truth, the sum may have it or not. */
static void check_bounds(const struct profile *sum, const struct forest *truth) {
    uint64_t count[FOREST_CONTEXTS] = {0}, error[FOREST_CONTEXTS] = {0}, wrong = 0;
    bool counted[FOREST_CONTEXTS] = {false};
    for (uint32_t i = 1; i < sum->n_nodes; i++) {
        uint32_t context = forest_context(sum, i);
        counted[context] |= sum->nodes[i].count > 0 || sum->nodes[i].error > 0;
        count[context] += sum->nodes[i].count;
        error[context] += sum->nodes[i].error;
    }
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++) {
        uint64_t most = count[i] + forest_hidden(truth, sum, i);
        wrong += count[i] > truth->weight[i] || truth->weight[i] > most;
        wrong += counted[i] && truth->weight[i] > count[i] + error[i];
    }
    CHECK_UINT(wrong, 0);
}

static void test_bounds(uint64_t *seed, unsigned pruned, unsigned missing) {
    const struct forest_view viewed = {
        .collector = "calls", .exe = "/opt/a/app", .pruned = pruned, .missing = missing};
    struct forest truth, part;
    struct profile *parts[PARTS], *sum;
    forest_grow(&truth, seed, 1000);
    part = truth;
    memset(truth.weight, 0, sizeof truth.weight);
    for (int i = 0; i < PARTS; i++) {
        for (uint32_t k = 1; k < FOREST_CONTEXTS; k++) {
            part.weight[k] = forest_random(seed, 2) == 0 ? 0 : forest_random(seed, 1000);
            truth.weight[k] += part.weight[k];
        }
        parts[i] = forest_profile(&part, &viewed, seed);
    }
    sum = merge(parts, PARTS);
    CHECK_UINT(sum->n_processes, 2);
    CHECK_UINT(sum->processes[1].runs, PARTS);
    CHECK_UINT(sum->processes[1].pid, 0);
    CHECK_UINT(sum->processes[1].total, forest_total(&truth));
    CHECK_UINT(profile_total(sum), forest_total(&truth));
    check_bounds(sum, &truth);
    profile_free(sum);
}

/* A sum that is written and read again is the same, and adding one profile changes nothing. */
static void test_file(uint64_t *seed) {
    const struct forest_view viewed = {
        .collector = "calls", .exe = "/opt/a/app", .pruned = 30, .missing = 20};
    struct forest forest;
    struct profile *once, *read;
    char *data[2], error[512] = "";
    size_t bytes[2];
    forest_grow(&forest, seed, 1000);
    once = merge((struct profile *[]){forest_profile(&forest, &viewed, seed)}, 1);
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&data[i], &bytes[i]);
        CHECK(write_pprof(out, once, &format_default_options));
        fclose(out);
        read = read_pprof(data[i], bytes[i], error, sizeof error);
        CHECK_STR(error, "");
        profile_free(once);
        once = merge((struct profile *[]){read}, 1);
    }
    CHECK_UINT(profile_total(once), forest_total(&forest));
    CHECK(bytes[0] == bytes[1] && memcmp(data[0], data[1], bytes[0]) == 0);
    free(data[0]);
    free(data[1]);
    profile_free(once);
}

/* ---- processes and locations ---- */

static struct profile *one(const char *exe, const char *clock, const char *name, uint64_t weight) {
    struct profile *profile = profile_new();
    struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
    uint32_t location;
    profile->type = profile_string(profile, "cpu");
    profile->unit = profile_string(profile, "nanoseconds");
    profile_add_process(
        profile, &(struct profile_process){
                     .exe = exe, .command = "app", .clock = clock, .walks = 3, .total = weight});
    location =
        profile_add_location(profile, profile_add_module(profile, "/lib/x.so", "abcd"), 64, false);
    profile_set_lines(profile, location, &line, 1);
    profile_add_node(profile, profile_root(profile, 1), location, weight, 0);
    return profile;
}

/* The same address, once without and once with symbols, is one context, and has the name. */
static void test_names(void) {
    static const char *const names[][2] = {{"x.so+0x40", "work"}, {"work", "x.so+0x40"}};
    for (int i = 0; i < 2; i++) {
        struct profile *sum = merge((struct profile *[]){one("/app", "cpu", names[i][0], 5),
                                                         one("/app", "cpu", names[i][1], 7)},
                                    2);
        CHECK_UINT(sum->n_nodes, 3);
        CHECK_UINT(sum->nodes[2].count, 12);
        CHECK_STR(tree_name(sum, 2), "work");
        CHECK_UINT(sum->processes[1].walks, 6);
        profile_free(sum);
    }
}

/* What is the greatest of its kind is that of the sum as well. */
static void test_greatest(void) {
    struct profile *two[] = {one("/a", "cpu", "f", 5), one("/a", "cpu", "f", 7)};
    for (uint32_t i = 0; i < 2; i++) {
        two[i]->processes[1].lone_ns = 20 - i;
        two[i]->processes[1].attach_ns = 20;
        two[i]->processes[1].forked = 3 + i;
    }
    struct profile *sum = merge(two, 2);
    CHECK_UINT(sum->processes[1].lone_ns, 20);
    CHECK_UINT(sum->processes[1].attach_ns, 20);
    CHECK_UINT(sum->processes[1].forked, 7);
    profile_free(sum);
}

/* Other executables, and what was sampled in another way, stay apart. */
static void test_apart(void) {
    struct profile *sum =
        merge((struct profile *[]){one("/a", "cpu", "f", 5), one("/b", "cpu", "f", 7),
                                   one("/a", "wall", "f", 1), one("/a", "cpu", "f", 2)},
              4);
    CHECK_UINT(sum->n_processes, 4);
    CHECK_UINT(sum->processes[1].total, 7);
    CHECK_UINT(sum->processes[2].total, 7);
    CHECK_UINT(sum->processes[3].total, 1);
    CHECK_UINT(profile_total(sum), 15);
    profile_free(sum);
}

/* Profiles with different periods have all their samples in the sum. */
static void test_periods(void) {
    struct profile *a = one("/a", "", "f", 1000), *b = one("/a", "", "f", 1000), *sum;
    a->processes[1].walks = b->processes[1].walks = 0;
    a->period = 10;
    b->period = 100;
    sum = merge((struct profile *[]){a, b}, 2);
    CHECK_UINT(sum->processes[1].walks, 110);
    CHECK_UINT(sum->period, 0);
    profile_free(sum);
}

static void test_refused(void) {
    struct profile *parts[] = {one("/a", "cpu", "f", 5), one("/a", "cpu", "f", INT64_MAX)};
    char error[512];
    size_t bad = 0;
    CHECK(merge_profiles((const struct profile *const *)parts, 2, &bad, error, sizeof error) ==
          NULL);
    CHECK_UINT(bad, 1);
    CHECK_STR(error, "the weights are too large to be added up");
    parts[1]->type = profile_string(parts[1], "wall");
    CHECK(merge_profiles((const struct profile *const *)parts, 2, &bad, error, sizeof error) ==
          NULL);
    CHECK_STR(error, "it counts wall in nanoseconds, the first one cpu in nanoseconds: these can't "
                     "be added up");
    profile_free(parts[0]);
    profile_free(parts[1]);
}

static void add_run(struct profile *profile, const char *command, uint32_t pid, bool live,
                    uint64_t weight) {
    const struct profile_process process = {.exe = "/bin/busybox",
                                            .command = command,
                                            .pid = pid,
                                            .runs = 1,
                                            .live = live,
                                            .total = weight,
                                            .walks = 2};
    uint32_t root = profile_root(profile, profile_add_process(profile, &process));
    profile_add_node(profile, root, profile_add_pseudo(profile, "main"), weight, 0);
}

/* What has ended is one process a name, what still runs stays apart. */
static void test_runs(void) {
    struct profile *profile = profile_new(), *joined;
    profile->type = profile_string(profile, "cpu");
    profile->unit = profile_string(profile, "nanoseconds");
    add_run(profile, "sh", 5, false, 10);
    CHECK(merge_runs(profile) == NULL);
    add_run(profile, "cat", 6, false, 20);
    add_run(profile, "sh", 7, true, 40);
    CHECK(merge_runs(profile) == NULL);
    add_run(profile, "sh", 8, false, 80);
    add_run(profile, "sh", 9, false, 160);
    joined = merge_runs(profile);
    CHECK_UINT(joined->n_processes, 4);
    CHECK_UINT(joined->processes[1].runs, 3);
    CHECK_UINT(joined->processes[1].walks, 6);
    CHECK_UINT(joined->processes[1].total, 250);
    CHECK_UINT(joined->processes[2].pid, 6);
    CHECK_UINT(joined->processes[3].pid, 7);
    CHECK_UINT(profile_total(joined), 310);
    profile_free(joined);
    profile_free(profile);
}

int main(void) {
    uint64_t seed = 11;
    for (unsigned i = 0; i < 60; i++)
        test_bounds(&seed, i % 3 * 25, i / 3 % 3 * 15);
    test_file(&seed);
    test_names();
    test_greatest();
    test_apart();
    test_periods();
    test_refused();
    test_runs();
    return check_report();
}
