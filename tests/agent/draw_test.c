/*
 * draw_test.c - the laws of chance, by trying all draws: nothing here depends on luck.
 *
 * Times are small integers. The credit at each point of CPU time, added up over all draws and all
 * phases of the kernel's tick, must be the same everywhere: that is what "unbiased" means.
 */
#include "preload/draw.h"

#include "tests/check.h"

#define LIFE 64u

/* The word that draw_below makes `value` of. */
static uint64_t word_for(uint64_t value, uint64_t limit) {
    return (uint64_t)((((unsigned __int128)value << 64) + limit - 1) / limit);
}

/* One life: ticks at phase, phase + tick, ...; each sample adds its weight where it is taken. */
static void live(int64_t first, uint64_t period, uint64_t tick, uint64_t phase, uint64_t *credit) {
    uint64_t at = phase, n = draw_first_points(first, period, tick, at);
    credit[at] += n * period;
    uint64_t due = at + draw_next_point(first, period, at);
    for (at += tick; at < LIFE; at += tick)
        for (; due <= at; due += period)
            credit[at] += period;
}

static void check_first(uint64_t period, uint64_t tick) {
    uint64_t credit[LIFE] = {0};
    for (uint64_t value = 0; value < period; value++) {
        int64_t first = draw_first_point(word_for(value, period), period, tick);
        CHECK(first == (int64_t)value - (int64_t)tick);
        for (uint64_t phase = 0; phase < tick; phase++)
            live(first, period, tick, phase, credit);
    }
    for (uint64_t at = 0; at < LIFE; at++)
        CHECK_UINT(credit[at], period * tick);
}

/* A tick has just come at 0: the phase is known, and each tick stands for what lies before it. */
static void check_known_phase(uint64_t period, uint64_t tick) {
    uint64_t credit[LIFE + 1] = {0};
    for (uint64_t value = 0; value < period; value++) {
        int64_t first = draw_first_point(word_for(value, period), period, 0);
        CHECK(first == (int64_t)value);
        credit[tick - 1] += period * draw_first_points(first, period, 0, tick - 1);
    }
    CHECK_UINT(credit[tick - 1], period * tick);
}

/* The timer runs only from `armed` on: what came before has its sample there, by roulette. */
static void check_unseen(uint64_t period, uint64_t tick, uint64_t armed) {
    uint64_t before = 0, after = 0;
    for (uint64_t value = 0; value < period; value++)
        before += draw_roulette(word_for(value, period), armed, period);
    CHECK_UINT(before, armed * period);
    for (uint64_t value = 0; value < period; value++)
        after += period * draw_first_points((int64_t)value - (int64_t)tick, period, tick, armed);
    CHECK_UINT(after, period * (armed < tick ? tick : armed + 1));
}

/* A thread that starts the fine timer at its first tick: that tick, and all samples after it. */
static void check_start(uint64_t tick, uint64_t fine) {
    uint64_t credit[LIFE] = {0};
    for (uint64_t phase = 0; phase < tick; phase++) {
        credit[phase] += draw_start_weight(tick, fine, phase);
        for (uint64_t at = phase + fine; at < LIFE; at += fine)
            credit[at] += fine;
    }
    for (uint64_t at = 0; at < LIFE; at++)
        CHECK_UINT(credit[at], tick);
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
        for (uint64_t period = 1; period <= 40; period++) {
            check_first(period, tick); /* also above the kernel's rate: overruns */
            check_known_phase(period, tick);
            for (uint64_t armed = 0; armed < tick + 5; armed++)
                check_unseen(period, tick, armed < period ? armed : period);
        }
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
