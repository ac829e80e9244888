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

/* What a tick is credited with on average, over all draws. */
static uint64_t mean_times(uint64_t weight, uint64_t period) {
    uint64_t sum = 0;
    for (uint64_t value = 0; value < period; value++)
        sum += draw_roulette(word_for(value, period), weight, period);
    CHECK_UINT(sum, weight * period);
    return sum;
}

static uint64_t next_tick(uint64_t at, uint64_t tick, uint64_t back, uint64_t after) {
    return at < back && at + tick >= back ? back + after : at + tick;
}

/* A thread that comes back to a processor at `back`, where ticks have another phase: while it is
 * young each point has its due all the same. */
static void check_young(uint64_t period, uint64_t tick, uint64_t back) {
    uint64_t credit[LIFE] = {0}, young = DRAW_YOUNG_TICKS * tick;
    for (uint64_t before = 0; before < tick; before++) /* ticks' phase before `back`, and after */
        for (uint64_t after = 0; after < tick; after++) {
            uint64_t last = 0;
            for (uint64_t at = before < back ? before : back + after; at < young;
                 last = at, at = next_tick(at, tick, back, after))
                credit[at] += mean_times(draw_tick_weight(tick, at, last), period);
        }
    for (uint64_t at = 0; at < young; at++)
        CHECK_UINT(credit[at], period * tick * tick);
}

/* The first tick of an age that is not young: nothing is lost or had twice on the border. */
static void check_grown(uint64_t tick) {
    uint64_t young = DRAW_YOUNG_TICKS * tick;
    for (uint64_t phase = 0; phase < tick; phase++)
        CHECK_UINT(draw_tick_weight(tick, young + phase, young + phase - tick), tick);
    CHECK_UINT(draw_tick_weight(tick, young + 5, young - tick), tick + 5); /* a later one */
    CHECK_UINT(draw_tick_weight(tick, young + 5, 0), tick);
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
        for (uint64_t period = tick; period <= 40; period += 3)
            for (uint64_t back = 1; back < 3 * tick; back++)
                check_young(period, tick, back);
        check_grown(tick);
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
