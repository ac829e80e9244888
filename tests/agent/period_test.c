/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * period_test.c - what is seen in bursts, each counted for its period, is what there was: at each
 * moment, whether periods are equal, drawn by chance, or chosen by what was seen before. Draws are
 * many and their generator begins with a constant, so each run sees the same.
 */
#include "preload/calls/period.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "preload/sample/draw.h"
#include "tests/check.h"

#define DRAWS  200000
#define SLOTS  60 /* lengths of a burst in the program's life */
#define LENGTH 1000u

static uint64_t random_state = 20150613;

/* The program calls in phases: so many calls in each length. */
static uint64_t calls_in(uint64_t slot) {
    return slot % 17 < 4 ? 90 : slot % 5;
}

/* The mean of the next period, by what the last burst has seen and for how much it stood. */
typedef uint64_t rule(uint64_t seen, uint64_t times);

static uint64_t equal(uint64_t seen, uint64_t times) {
    (void)seen, (void)times;
    return 10 * PERIOD_ONE;
}

static uint64_t broken(uint64_t seen, uint64_t times) {
    (void)seen, (void)times;
    return 13 * PERIOD_ONE / 2;
}

static uint64_t by_chance(uint64_t seen, uint64_t times) {
    (void)seen, (void)times;
    return PERIOD_ONE + draw_below(draw_word(&random_state), 20 * PERIOD_ONE);
}

/* What a budget does: after a burst of many calls, which was dear, bursts are rare. */
static uint64_t by_price(uint64_t seen, uint64_t times) {
    uint64_t mean = seen > 50 ? times * 3 * PERIOD_ONE : times * PERIOD_ONE * 2 / 3;
    return mean < PERIOD_ONE ? PERIOD_ONE : mean > 30 * PERIOD_ONE ? 30 * PERIOD_ONE : mean;
}

/* And the other way round: it looks where there is much. */
static uint64_t by_interest(uint64_t seen, uint64_t times) {
    (void)times;
    return seen > 50 ? PERIOD_ONE : 25 * PERIOD_ONE;
}

static const struct {
    const char *name;
    rule *rule;
    bool first; /* it begins with a burst, as a program does */
} cases[] = {
    {"equal periods", equal, false},     {"a burst at first", equal, true},
    {"no whole number", broken, false},  {"by chance", by_chance, false},
    {"by price", by_price, true},        {"by price, in the middle", by_price, false},
    {"by interest", by_interest, false},
};

struct life {
    double weight[SLOTS], squares[SLOTS];
    double total, total_squares;
};

static void live(struct life *life, size_t which) {
    struct period p;
    uint64_t seen = 0, now = 0;
    double total = 0;
    period_begin(&p, 0);
    if (cases[which].first)
        period_first(&p, LENGTH, 0);
    bool first = cases[which].first;
    for (;; first = false) {
        uint64_t mean = cases[which].rule(seen, p.times);
        uint64_t at = first ? 0 : period_next(&p, LENGTH, mean, now, &random_state);
        uint64_t slot = at / LENGTH;
        now = at + LENGTH;
        if (slot < SLOTS) {
            seen = calls_in(slot);
            total += (double)(seen * p.times);
            life->weight[slot] += (double)p.times;
            life->squares[slot] += (double)(p.times * p.times);
        }
        if (p.end_ns >= (uint64_t)SLOTS * LENGTH)
            break;
    }
    life->total += total;
    life->total_squares += total * total;
}

static bool is_about(double sum, double squares, double truth) {
    double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
    return fabs(mean - truth) <= 5 * sqrt(fmax(variance, 0) / DRAWS) + 1e-9;
}

static void test_expectation(size_t which) {
    struct life life = {.total = 0};
    double truth = 0;
    int wrong = 0;
    for (int draw = 0; draw < DRAWS; draw++)
        live(&life, which);
    for (uint64_t i = 0; i < SLOTS; i++) {
        truth += (double)calls_in(i);
        wrong += !is_about(life.weight[i], life.squares[i], 1);
    }
    if (wrong > 0 || !is_about(life.total, life.total_squares, truth))
        fprintf(stderr, "%s: %d moments, %g calls of %g\n", cases[which].name, wrong,
                life.total / DRAWS, truth);
    CHECK_UINT(wrong, 0);
    CHECK(is_about(life.total, life.total_squares, truth));
}

/* Each period is where the last one ends, but for a thread that lags by more than a whole one. */
static void test_periods(void) {
    struct period p;
    period_begin(&p, 500);
    uint64_t at = period_next(&p, LENGTH, 4 * PERIOD_ONE, 500, &random_state);
    CHECK(at >= 500 && at <= 3500 && (at - 500) % LENGTH == 0);
    CHECK_UINT(p.end_ns, 4500);
    at = period_next(&p, LENGTH, 4 * PERIOD_ONE, 8000, &random_state);
    CHECK(at >= 4500 && at <= 7500);
    CHECK_UINT(p.end_ns, 8500);
    at = period_next(&p, LENGTH, 4 * PERIOD_ONE, 20000, &random_state);
    CHECK(at >= 20000 && at <= 23000);
    CHECK_UINT(p.end_ns, 24000);
    CHECK_UINT(p.times, 4);
}

static void test_times(void) {
    CHECK_UINT(period_times(2000000, 20000000), 10 * PERIOD_ONE);
    CHECK_UINT(period_times(2000000, 3000000), 3 * PERIOD_ONE / 2);
    CHECK_UINT(period_times(2000000, 2000000), PERIOD_ONE);
    CHECK_UINT(period_times(1, UINT64_MAX), (uint64_t)WIRE_BURST_MAX * PERIOD_ONE);
}

int main(void) {
    test_times();
    test_periods();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_expectation(i);
    return check_report();
}
