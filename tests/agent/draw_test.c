/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * draw_test.c - the laws of chance, by trying all draws: nothing here depends on luck.
 *
 * Times are small integers. The credit at each point of CPU time, added up over all draws and all
 * phases of the kernel's tick, must be the same everywhere: that is what "unbiased" means.
 */
#include "preload/sample/draw.h"

#include "tests/check.h"

#define LIFE 64u

/* The word that draw_below makes `value` of. */
static uint64_t word_for(uint64_t value, uint64_t limit) {
    return (uint64_t)((((unsigned __int128)value << 64) + limit - 1) / limit);
}

/* What a tick is credited with on average, over all draws. */
static uint64_t mean_times(uint64_t weight, uint64_t period) {
    uint64_t sum = 0;
    for (uint64_t value = 0; value < period; value++)
        sum += draw_roulette(word_for(value, period), weight, period);
    CHECK_UINT(sum, weight * period);
    return sum;
}

/* Ticks at phase, phase + tick, ...; after the first one each stands for the time since the last.
 */
static void check_first(uint64_t period, uint64_t tick) {
    uint64_t credit[LIFE] = {0};
    for (uint64_t phase = 0; phase < tick; phase++) {
        credit[phase] += mean_times(draw_first_weight(tick, phase, 0), period);
        for (uint64_t point = 1; point <= period; point++) /* where the periodic timer begins */
            for (uint64_t due = phase + point; due < LIFE; due += period) {
                uint64_t ticks = (due - phase + tick - 1) / tick; /* it is served at the next one */
                if (phase + ticks * tick < LIFE)
                    credit[phase + ticks * tick] += period;
            }
    }
    for (uint64_t at = 0; at < LIFE; at++)
        CHECK_UINT(credit[at], period * tick);
}

static void check_switches(uint64_t tick) {
    CHECK_UINT(draw_first_weight(tick, 3 * tick, 0), 3 * tick);
    for (uint64_t n = 1; n < 100; n++) {
        uint64_t weight = draw_first_weight(tick, 7, n);
        CHECK(weight >= 7 + tick / 2 && weight < 7 + tick);
        CHECK(weight <= draw_first_weight(tick, 7, n + 1));
    }
}

/* A thread that starts the fine timer at its first tick: that tick, and all samples after it. */
static void check_start(uint64_t tick, uint64_t fine) {
    uint64_t credit[LIFE] = {0};
    for (uint64_t phase = 0; phase < tick; phase++) {
        credit[phase] += fine * draw_start_weight(tick, phase);
        for (uint64_t first = 1; first <= fine; first++) /* all places of the first fine sample */
            for (uint64_t at = phase + first; at < LIFE; at += fine)
                credit[at] += fine;
    }
    for (uint64_t at = 0; at < LIFE; at++)
        CHECK_UINT(credit[at], fine * tick);
}

static void check_roulette(uint64_t weight, uint64_t least) {
    uint64_t sum = 0;
    for (uint64_t value = 0; value < least; value++) {
        uint64_t taken = draw_roulette(word_for(value, least), weight, least);
        CHECK(taken == 0 || taken == (weight > least ? weight : least));
        sum += taken;
    }
    CHECK_UINT(sum, weight * least);
}

static void check_words(void) {
    uint64_t state = 1, ones = 0, seen[16] = {0};
    for (int i = 0; i < 4096; i++) {
        uint64_t word = draw_word(&state);
        ones += (uint64_t)__builtin_popcountll(word);
        seen[draw_below(word, 16)]++;
    }
    CHECK(ones > 4096 * 32 - 1300 && ones < 4096 * 32 + 1300); /* 5 sigma; the seed is fixed */
    for (int i = 0; i < 16; i++)
        CHECK(seen[i] > 178 && seen[i] < 334);
    CHECK_UINT(draw_below(UINT64_MAX, 10), 9);
    CHECK_UINT(draw_below(0, 10), 0);
}

int main(void) {
    for (uint64_t tick = 1; tick <= 9; tick++) {
        for (uint64_t period = 1; period <= 40; period++)
            check_first(period, tick);
        check_switches(tick);
    }
    for (uint64_t fine = 1; fine <= 8; fine++)
        for (uint64_t parts = 1; parts <= 7; parts++)
            check_start(fine * parts, fine);
    for (uint64_t weight = 1; weight <= 30; weight++)
        for (uint64_t least = 1; least <= 30; least++)
            check_roulette(weight, least);
    check_words();
    return check_report();
}
