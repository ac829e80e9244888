/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * copies_test.c - samples that are left out because their copies would find no room: those that are
 * taken weigh what all do, and lie as far apart as a ring needs.
 */
#include <math.h>
#include <stdint.h>

#include "preload/sample/copies.h"
#include "preload/sample/draw.h"
#include "preload/sample/emit.h"
#include "tests/check.h"

#define MS      1000000u
#define SAMPLES 2000000u
#define THREADS 5000u

static void test_none_left_out(void) {
    struct copies copies = {0};
    uint64_t random = 1;
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_UINT(copies_weight(&copies, MS, &random), MS);
        copies_walked(&copies, 0, &random);
    }
    copies_walked(&copies, WALK_WORDS / 8, &random); /* there is room for eight of these */
    CHECK_UINT(copies_weight(&copies, MS, &random), MS);
}

/* Samples of two kinds in turns, `steps` of each: what is taken weighs the same for both. */
static void test_law(uint64_t weight, uint32_t words, uint32_t steps, double apart) {
    struct copies copies = {0};
    uint64_t random = 7, at = 0, last = 0, least = UINT64_MAX, taken = 0;
    double sum[2] = {0};
    copies_walked(&copies, words, &random);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint64_t weighs = copies_weight(&copies, weight, &random);
        at += weight;
        if (weighs == 0)
            continue;
        if (taken++ > 0 && at - last < least)
            least = at - last;
        last = at;
        sum[i / steps % 2] += (double)weighs;
        copies_walked(&copies, words, &random);
    }
    double total = (double)weight * SAMPLES, share = sum[0] / (sum[0] + sum[1]),
           chance = 5 / sqrt((double)taken);
    printf(
        "%u words, %u in a row: 1 of %.2f taken, %.1f ms apart at least, total %.4f, half %.4f\n",
        words, steps, (double)SAMPLES / (double)taken, (double)least / MS,
        (sum[0] + sum[1]) / total, share);
    CHECK(fabs((sum[0] + sum[1]) / total - 1) < chance);
    CHECK(fabs(share - 0.5) < chance / 2);
    CHECK((double)least >= apart * MS - (double)weight);
}

/* The daemon empties the ring every `slow_ms` only: copies that find no room are lost, but soon
 * there are few such, and what is taken and lost is all there is. */
static void test_slow_daemon(uint32_t slow_ms) {
    struct copies copies = {0};
    uint64_t random = 5, emptied = 0;
    uint32_t taken = 0, lost = 0, ms = 200000;
    double sum = 0;
    bool full = false;
    for (uint32_t at = 0; at < ms; at++) {
        if (at - emptied >= slow_ms)
            full = false, emptied = at;
        uint64_t weighs = copies_weight(&copies, MS, &random);
        sum += (double)weighs;
        if (weighs == 0)
            continue;
        copies_walked(&copies, full ? COPIES_NO_ROOM : WALK_WORDS, &random);
        taken++;
        lost += full;
        full = true;
    }
    printf("the ring is emptied every %u ms: %u of %u copies found no room, total %.4f\n", slow_ms,
           lost, taken, sum / MS / ms);
    CHECK(lost * 20 < taken);
    CHECK(fabs(sum / MS / ms - 1) < 5 / sqrt(taken));
}

static void test_ends(void) {
    struct copies copies = {0};
    uint64_t random = 3, walks = 0;
    copies_walked(&copies, WALK_WORDS, &random);
    CHECK(copies.points.course.mean_ns == 8 * MS);
    for (uint32_t i = 0; i < 2000; i++)
        if (copies_weight(&copies, MS, &random) != 0)
            copies_walked(&copies, 0, &random), walks++;
    CHECK(copies.points.course.mean_ns == 0 && walks > 1000);
    /* a sample that stands for long enough by itself is taken as it is */
    copies_walked(&copies, WALK_WORDS, &random);
    CHECK_UINT(copies_weight(&copies, 3600000ull * MS, &random), 3600000ull * MS);
}

/* Many threads whose walks are copies of `first` words for a fifth of their time, then of `second`
 * words for as long, then none: on average they are credited with the time that they have had. */
static void test_totals(uint32_t first, uint32_t second) {
    const uint64_t length = 250 * MS;
    uint64_t random = 11;
    double sum = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        struct copies copies = {0};
        struct interval_course steps;
        const uint64_t drawn[INTERVAL_WORDS] = {draw_word(&random), draw_word(&random)};
        for (uint64_t at = interval_begin(&steps, MS, 1, drawn); at <= length;
             at += interval_next(&steps, 1, draw_word(&random))) {
            uint64_t weighs = copies_weight(&copies, steps.step_ns, &random);
            sum += (double)weighs;
            if (weighs != 0)
                copies_walked(&copies,
                              at < length / 5       ? first
                              : at < length / 5 * 2 ? second
                                                    : 0,
                              &random);
        }
    }
    double off = sum / THREADS - (double)length;
    printf("copies of %u, %u, no words: %+.3f ms of %.0f\n", first, second, off / MS,
           (double)length / MS);
    CHECK(fabs(off) < 0.3 * MS); /* the standard error is 0.06 */
}

int main(void) {
    test_none_left_out();
    test_law(MS, WALK_WORDS, 1, 4);
    test_law(MS, WALK_WORDS, 3, 4);
    test_law(MS, WALK_WORDS / 2, 4, 2);
    test_law(100000, WALK_WORDS, 40, 4);
    test_law(250000, WALK_WORDS / 5, 8, 1);
    test_slow_daemon(4);
    test_slow_daemon(20);
    test_slow_daemon(30);
    test_ends();
    test_totals(WALK_WORDS, WALK_WORDS);
    test_totals(WALK_WORDS / 8, WALK_WORDS / 4);
    test_totals(WALK_WORDS / 4, WALK_WORDS / 2);
    test_totals(WALK_WORDS / 2, WALK_WORDS);
    return check_report();
}
