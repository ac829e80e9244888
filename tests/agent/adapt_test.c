/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * adapt_test.c - bursts that are left out are made up for: what is seen, each burst counted for its
 * period and its group, is what there was, at each moment and for each part of the calls, however
 * the program goes on; and errors are about as large as is asked for. Draws are many and their
 * generator begins with a constant, so each run sees the same.
 */
#include "preload/calls/adapt.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "preload/calls/period.h"
#include "preload/sample/draw.h"
#include "tests/check.h"

#define SLOTS  400 /* lengths of a burst in the program's life */
#define DRAWS  6000
#define LENGTH 1000u
#define PARTS  4 /* that the programs have */

static uint64_t random_state = 20060614;

/* What runs in a length: where it begins, and the calls of each part. */
struct slot {
    uint64_t key;
    uint32_t calls[ADAPT_PARTS];
};

typedef void program(struct slot slot[SLOTS]);

static uint32_t about(uint32_t n, uint32_t by) {
    return n - by + (uint32_t)draw_below(draw_word(&random_state), 2 * by + 1);
}

/* Two phases, each always about the same. */
static void phases(struct slot slot[SLOTS]) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t phase = i / 20 % 2;
        slot[i].key = phase;
        slot[i].calls[phase] = about(1000, 10);
        slot[i].calls[2] = about(100, 100);
    }
}

/* One class, whose calls are rare and many. */
static void heavy(struct slot slot[SLOTS]) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot[i].calls[0] = about(100, 20);
        slot[i].calls[1] = draw_below(draw_word(&random_state), 20) == 0 ? 5000 : 0;
    }
}

/* After a long time of the same, something else under the same key, and a class that is new. */
static void late(struct slot slot[SLOTS]) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot[i].key = i > 370;
        slot[i].calls[i < 300 ? 0 : 1] = 1000;
        slot[i].calls[2] = i % 90 == 89 ? 3000 : 0;
    }
}

/* What comes next follows from what was the case. */
static void growing(struct slot slot[SLOTS]) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot[i].key = i % 3;
        slot[i].calls[i % 3] = 10 + i * i / 100;
        slot[i].calls[3] = i % 7 == 0 ? 500 : 3;
    }
}

static const struct {
    const char *name;
    program *program;
    uint32_t error_ppm;
    uint64_t mean; /* lengths of a period, in parts of PERIOD_ONE */
    bool rare;     /* most calls are in few bursts: errors are as they may be */
} cases[] = {
    {"phases", phases, 200000, 2 * PERIOD_ONE, false},
    {"phases, all lengths", phases, 50000, PERIOD_ONE, false},
    {"heavy", heavy, 400000, 2 * PERIOD_ONE, true},
    {"heavy, all lengths", heavy, 400000, PERIOD_ONE, true},
    {"late", late, 300000, 2 * PERIOD_ONE, false},
    {"late, no whole number", late, 300000, 3 * PERIOD_ONE / 2, false},
    {"growing", growing, 300000, 2 * PERIOD_ONE, false},
    {"asked for too much", growing, 100, 2 * PERIOD_ONE, false},
};

struct sums {
    double value, squares;
};

static void add(struct sums *sums, double value) {
    sums->value += value;
    sums->squares += value * value;
}

static bool is_about(const struct sums *sums, double truth) {
    double mean = sums->value / DRAWS, variance = sums->squares / DRAWS - mean * mean;
    return fabs(mean - truth) <= 5 * sqrt(fmax(variance, 0) / DRAWS) + 1e-9;
}

struct results {
    struct sums weight[SLOTS], total[PARTS];
    double error; /* sum of squares, of all parts */
    uint64_t seen, left_out;
};

/* Once through the program, as the agent goes. */
static void live(const struct slot slot[SLOTS], size_t which, struct results *r,
                 const double truth[PARTS]) {
    static struct adapt adapt;
    const struct adapt_law law = {cases[which].error_ppm, 100};
    double weight[SLOTS] = {0}, total[PARTS] = {0};
    struct period p;
    memset(&adapt, 0, sizeof adapt);
    period_begin(&p, 0);
    while (p.end_ns < (uint64_t)SLOTS * LENGTH) {
        uint64_t at = period_next(&p, LENGTH, cases[which].mean, p.end_ns, &random_state) / LENGTH;
        if (at >= SLOTS)
            break;
        const struct slot *s = &slot[at];
        uint64_t size = adapt_draw(&adapt, &law, s->key, p.times, &random_state);
        r->left_out += size == 0;
        if (size == 0)
            continue;
        r->seen++;
        adapt_seen(&adapt, s->key, p.times, size, s->calls);
        weight[at] = (double)(p.times * size);
        for (uint32_t i = 0; i < PARTS; i++)
            total[i] += weight[at] * s->calls[i];
    }
    for (uint32_t i = 0; i < SLOTS; i++)
        add(&r->weight[i], weight[i]);
    for (uint32_t i = 0; i < PARTS; i++) {
        add(&r->total[i], total[i]);
        r->error += (total[i] - truth[i]) * (total[i] - truth[i]);
    }
}

static void test_case(size_t which) {
    static struct slot slot[SLOTS];
    static struct results r;
    double truth[PARTS] = {0}, squares = 0;
    int wrong = 0;
    memset(slot, 0, sizeof slot);
    memset(&r, 0, sizeof r);
    cases[which].program(slot);
    for (uint32_t i = 0; i < SLOTS; i++)
        for (uint32_t j = 0; j < PARTS; j++)
            truth[j] += slot[i].calls[j];
    for (int draw = 0; draw < DRAWS; draw++)
        live(slot, which, &r, truth);
    for (uint32_t i = 0; i < SLOTS; i++)
        wrong += !is_about(&r.weight[i], 1);
    for (uint32_t j = 0; j < PARTS; j++) {
        wrong += !is_about(&r.total[j], truth[j]);
        squares += truth[j] * truth[j];
    }
    double error = 1.96 * sqrt(r.error / DRAWS / squares);
    bool some = cases[which].error_ppm > 1000, held = some && !cases[which].rare;
    printf("%s: %.0f %% left out, error %.1f %%, %.1f %% asked for\n", cases[which].name,
           100.0 * (double)r.left_out / (double)(r.left_out + r.seen), 100 * error,
           cases[which].error_ppm / 1e4);
    if (wrong > 0)
        fprintf(stderr, "%s: %d expectations are wrong\n", cases[which].name, wrong);
    CHECK_UINT(wrong, 0);
    CHECK((r.left_out > 0) == some);
    CHECK(!held || error < 1.4 * cases[which].error_ppm / 1e6);
}

/* All of a class that is always the same, but for one in so many at least. */
static void test_most(void) {
    static struct adapt adapt;
    const struct adapt_law law = {500000, 16};
    const uint32_t calls[ADAPT_PARTS] = {1000};
    uint64_t stands = 0, seen = 0, longest = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t size = adapt_draw(&adapt, &law, 7, 1, &random_state);
        stands += size;
        seen += size > 0;
        longest = size > longest ? size : longest;
        if (size > 0)
            adapt_seen(&adapt, 7, 1, size, calls);
    }
    CHECK_UINT(longest, 16);
    CHECK(stands >= 20000 - 16 && stands <= 20000 + 16);
    CHECK(seen < 20000 / 10);
}

/* Counts as large as a burst can have overflow nothing. */
static void test_large(void) {
    static struct adapt adapt;
    const struct adapt_law law = {500000, 100};
    uint32_t calls[ADAPT_PARTS];
    uint64_t stands = 0;
    for (uint32_t i = 0; i < ADAPT_PARTS; i++)
        calls[i] = 100000000;
    for (int i = 0; i < 20000; i++) {
        uint64_t size = adapt_draw(&adapt, &law, 7, 10000, &random_state);
        stands += size;
        if (size > 0)
            adapt_seen(&adapt, 7, 10000, size, calls);
    }
    CHECK(stands >= 20000 - 100 && stands <= 20000 + 100);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_case(i);
    test_most();
    test_large();
    return check_report();
}
