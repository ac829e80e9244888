/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_trial.h - repeated trials of what is left to chance: do 95 % intervals hold the truth as
 * often as they say, and how wide are they? For one program each: nothing here depends on time or
 * luck, as seeds are fixed.
 */
#ifndef HCCT_CHANCE_TRIAL_H
#define HCCT_CHANCE_TRIAL_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "common/wire/wire.h"
#include "preload/sample/draw.h"
#include "preload/sample/ticker.h"
#include "tests/check.h"

#define RUNS   100
#define SECOND 1000000000ull
#define MS     1000000ull

static uint64_t seed;

/* All trials begin alike. */
static inline void trial_begin(void) {
    seed = 20240229;
}

/* preload/sample/ticker.c's */
uint64_t ticker_resolution(void) {
    return 4 * MS;
}

static inline double uniform(void) {
    return (double)(draw_word(&seed) >> 11) / (double)(1ull << 53);
}

/* As preload/sample/sampling.c has it. */
static inline uint64_t attach(uint64_t weight, bool *attached) {
    *attached = weight < WIRE_ATTACH_NS;
    return *attached ? draw_roulette(draw_word(&seed), weight, WIRE_ATTACH_NS) : weight;
}

/* ---- how often intervals hold the truth, and how wide they are ---- */

#define TRIAL_MOST 8 /* of what a trial looks at */

struct count {
    int n, held[TRIAL_MOST];
    double squares[TRIAL_MOST], half[TRIAL_MOST];
};

static inline void note(struct count *count, int k, double off, double half) {
    count->held[k] += fabs(off) <= half;
    count->squares[k] += off * off / RUNS;
    count->half[k] += half / RUNS;
}

/* 95 of 100 hold it. That a function has 85 by chance is a case of one in 10,000; one more often
 * than that says that intervals are too narrow, and so does their mean. */
static inline void judge(const char *name, const struct count *count, double widest) {
    int sum = 0;
    printf("%-32s", name);
    for (int k = 0; k < count->n; k++)
        printf(" %3d (%.2f)", count->held[k], count->half[k] / (1.96 * sqrt(count->squares[k])));
    printf("\n");
    for (int k = 0; k < count->n; k++) {
        CHECK(count->held[k] >= 85);
        CHECK(count->half[k] < widest * 1.96 * sqrt(count->squares[k]));
        sum += count->held[k];
    }
    CHECK(sum >= 91 * count->n);
}

#endif
