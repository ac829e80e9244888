/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_blocks_test.c - all blocks of a program come from one function, as where malloc has a
 * wrapper, and are drawn by another R for each of its callers: the intervals of contexts are right,
 * and what has grown is found beside what is drawn rarely.
 */
#include "tests/check.h"

#include <math.h>
#include <string.h>

#include "common/profile/diff.h"
#include "tests/report/forest.h"

#define SIZE 1000.0 /* of a block */

static const struct caller {
    const char *name;
    double mean; /* R */
    uint64_t blocks;
} callers[] = {
    {"answer", 1 << 21, 60000},
    {"keep_session", 1 << 15, 4000},
    {"read_settings", 1 << 16, 8000},
    {"log_error", 1 << 15, 0},
};
#define KEEP    3 /* callers that have blocks from the beginning */
#define CALLERS 4

/* What was sampled of one caller, and what that varies by. */
struct seen {
    double weight, squares;
};

static struct seen draw(const struct caller *caller, uint64_t blocks, uint64_t *seed) {
    double p = -expm1(-SIZE / caller->mean), weight = SIZE / p;
    struct seen seen = {0, 0};
    for (uint64_t i = 0; i < blocks; i++)
        if ((double)forest_random(seed, 1 << 30) < p * (1 << 30)) {
            seen.weight += weight;
            seen.squares += weight * weight * (1 - p);
        }
    return seen;
}

/* As the daemon does (doc/sampling.md), with 1.5 draws more. */
static float effect(const struct seen *function, double rarest, const struct seen *all) {
    double share = function->weight / all->weight;
    double varied = function->squares + 1.5 * rarest * rarest;
    return share > 0 ? (float)(varied / (share * all->squares)) : 0;
}

static uint32_t add_frame(struct profile *profile, uint32_t parent, const char *name,
                          float inclusive, float self) {
    struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
    struct profile_location location = {.module = profile_add_module(profile, "/opt/app", ""),
                                        .address = 16 * line.function + 16,
                                        .n_lines = 1,
                                        .lines = &line,
                                        .effect = inclusive,
                                        .self_effect = self,
                                        .is_entry = true};
    return profile_add_node(profile, parent, profile_intern_location(profile, &location), 0, 0);
}

/* more[] blocks, beside those that callers have. */
static struct profile *sample(const uint64_t more[CALLERS], uint64_t *seed) {
    struct profile *profile = profile_new();
    struct seen seen[CALLERS], all = {0, 0};
    for (int i = 0; i < CALLERS; i++) {
        seen[i] = draw(&callers[i], callers[i].blocks + more[i], seed);
        all.weight += seen[i].weight;
        all.squares += seen[i].squares;
    }
    profile->type = profile_string(profile, "inuse_space");
    profile->unit = profile_string(profile, "bytes");
    profile_add_process(profile,
                        &(struct profile_process){.exe = "/opt/app",
                                                  .command = "app",
                                                  .collector = "walks",
                                                  .walks = 1000,
                                                  .total = (uint64_t)all.weight,
                                                  .drawn = (uint64_t)all.weight >> 10,
                                                  .drawn_squares = (uint64_t)all.squares >> 20,
                                                  .varied_total = (uint64_t)all.squares >> 20,
                                                  .lone_ns = 1 << 21});
    for (int i = 0; i < CALLERS; i++) {
        uint32_t node = add_frame(profile, profile_root(profile, 1), callers[i].name,
                                  effect(&seen[i], callers[i].mean, &all), 0);
        node = add_frame(profile, node, "allocate", 0, effect(&all, callers[0].mean, &all));
        profile->nodes[node].count = (uint64_t)seen[i].weight;
    }
    return profile;
}

static const uint64_t none[CALLERS] = {0};

static bool compare(struct diff *diff, const uint64_t more[CALLERS], uint64_t *seed) {
    const struct diff_options options = {.by = PROFILE_BY_FUNCTION, .mode = DIFF_ABSOLUTE};
    struct profile *before = sample(none, seed), *after = sample(more, seed);
    char error[512];
    bool made = diff_make(diff, before, after, &options, error, sizeof error);
    profile_free(before);
    profile_free(after);
    CHECK(made);
    return made;
}

/* The context of that caller's blocks. */
static const struct diff_weight *of(const struct diff *diff, const char *caller) {
    const struct profile *profile = diff->profile;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (parent == 0 || profile->nodes[parent].parent == 0)
            continue;
        const struct profile_location *above = &profile->locations[profile->nodes[parent].location];
        if (strcmp(profile->functions[above->lines[0].function].name, caller) == 0)
            return &diff->self[i];
    }
    return NULL;
}

#define ROUNDS 400

static void test_intervals(uint64_t *seed) {
    unsigned holds[KEEP] = {0}, marked = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct diff diff;
        if (!compare(&diff, none, seed))
            return;
        for (int i = 0; i < KEEP; i++) {
            const struct diff_weight *w = of(&diff, callers[i].name);
            holds[i] += w != NULL && fabs(diff_change(w)) <= w->interval;
            marked += w != NULL && w->beyond;
        }
        diff_free(&diff);
    }
    for (int i = 0; i < KEEP; i++) {
        printf("%s: %u of %u intervals hold\n", callers[i].name, holds[i], ROUNDS);
        CHECK(holds[i] >= ROUNDS * 92 / 100 && holds[i] < ROUNDS);
    }
    CHECK(marked <= ROUNDS * KEEP / 50);
}

/* Some megabytes beside sixty of which each sample stands for two. */
static void test_found(const char *caller, const uint64_t more[CALLERS], uint64_t *seed) {
    unsigned found = 0;
    for (int round = 0; round < 100; round++) {
        struct diff diff;
        if (!compare(&diff, more, seed))
            return;
        const struct diff_weight *w = of(&diff, caller);
        found += w != NULL && w->beyond;
        diff_free(&diff);
    }
    printf("%s: found %u of 100\n", caller, found);
    CHECK(found >= 90);
}

int main(void) {
    uint64_t seed = 7;
    test_intervals(&seed);
    test_found("keep_session", (uint64_t[CALLERS]){0, 3000}, &seed);
    test_found("log_error", (uint64_t[CALLERS]){0, 0, 0, 1000}, &seed);
    return check_report();
}
