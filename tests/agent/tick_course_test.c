/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_course_test.c - the kernel's ticks against threads that work for short and for long and
 * sleep in between, for times that have nothing to do with the ticks.
 */
#include "preload/sample/tick_course.h"

#include <math.h>

#include "preload/sample/draw.h"
#include "tests/check.h"

#define TICK 4000000u
#define MS   1000000u

/* How a thread works: pieces of one length or the other, each after a sleep. `aligned`: one in so
 * many begins at a tick, as where others wait for the processor; 0: none does. */
struct work {
    uint64_t length[2];
    uint64_t times; /* pieces of the first length for each of the second */
    uint64_t aligned;
};

struct seen {
    double worked[2], weight[2];
};

static uint64_t seed = 20261129;
static struct tick_courses all;

static uint64_t below(uint64_t n) {
    return draw_word(&seed) % n;
}

/* A piece that begins `phase` after a tick. */
static void work_on(struct tick_course *course, struct seen *seen, uint64_t *cpu, int kind,
                    uint64_t length, uint64_t phase) {
    uint64_t began = *cpu;
    for (uint64_t at = TICK - phase; at < length; at += TICK)
        seen->weight[kind] += (double)tick_course_meet(course, &all, TICK, began + at, false);
    seen->worked[kind] += (double)length;
    *cpu += length;
}

static void work_a_piece(const struct work *work, struct tick_course *course, struct seen *seen,
                         uint64_t *cpu) {
    int kind = below(work->times + 1) == 0;
    bool at_tick = work->aligned != 0 && below(work->aligned) == 0;
    work_on(course, seen, cpu, kind, work->length[kind], at_tick ? 0 : below(TICK));
}

/* A thread that works in so many pieces. */
static void run_thread(const struct work *work, struct seen *seen, unsigned pieces) {
    struct tick_course course = {0};
    uint64_t cpu = 5 * MS;
    tick_course_begin(&course, cpu, 0);
    for (unsigned i = 0; i < pieces; i++)
        work_a_piece(work, &course, seen, &cpu);
    tick_course_end(&course, &all, cpu);
}

static struct seen run(const struct work *work) {
    struct seen seen = {{0}, {0}};
    all = (struct tick_courses){0};
    run_thread(work, &seen, 400000);
    return seen;
}

static double ratio(const struct seen *seen, int kind) {
    return seen->weight[kind] / seen->worked[kind];
}

static double ratio_of_all(const struct seen *seen) {
    return (seen->weight[0] + seen->weight[1]) / (seen->worked[0] + seen->worked[1]);
}

/* Each kind has its time, however short it is: within 4 standard deviations. */
static void test_short_and_long(void) {
    static const struct work works[] = {{{100000, 5 * MS}, 50, 0},
                                        {{100000, 30 * MS}, 300, 0},
                                        {{1 * MS, 3 * MS}, 3, 0},
                                        {{20000, 4 * MS}, 200, 0}};
    for (unsigned i = 0; i < sizeof works / sizeof works[0]; i++) {
        struct seen seen = run(&works[i]);
        for (int kind = 0; kind < 2; kind++)
            CHECK(fabs(ratio(&seen, kind) - 1) <= 4 * sqrt(TICK / seen.worked[kind]) + 0.01);
    }
}

/* Where ticks meet the thread less often, its total is right all the same. */
static void test_begins_at_ticks(void) {
    const struct work work = {{100000, 5 * MS}, 50, 3};
    struct seen seen = run(&work);
    CHECK(fabs(ratio_of_all(&seen) - 1) <= 0.02);
    CHECK(ratio(&seen, 0) > 0.6 && ratio(&seen, 0) < 1);
}

/* Also of threads that have some ticks each, or none, where ticks meet them as often as by chance
 * and half as often: what a thread does not know yet others do. */
static void test_few_ticks(void) {
    static const struct work works[] = {{{100000, 200000}, 10, 2}, {{200000, 100000}, 3, 0}};
    static const unsigned pieces[] = {20, 100, 1000};
    for (unsigned i = 0; i < sizeof works / sizeof works[0]; i++)
        for (unsigned k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
            struct seen seen = {{0}, {0}};
            all = (struct tick_courses){0};
            for (unsigned thread = 0; thread < 4000000 / pieces[k]; thread++)
                run_thread(&works[i], &seen, pieces[k]);
            CHECK(fabs(ratio_of_all(&seen) - 1) <= 0.02);
        }
}

/* Nor does it matter that all of them begin at once, when no long gap is over yet. */
static void test_side_by_side(void) {
    static const struct work work = {{100000, 200000}, 10, 2};
    struct tick_course courses[16];
    uint64_t cpu[16] = {0};
    struct seen seen = {{0}, {0}};
    for (unsigned again = 0; again < 200; again++) {
        all = (struct tick_courses){0};
        for (unsigned i = 0; i < 16; i++) {
            courses[i] = (struct tick_course){0};
            tick_course_begin(&courses[i], cpu[i], 0);
        }
        for (unsigned piece = 0; piece < 1000; piece++)
            for (unsigned i = 0; i < 16; i++)
                work_a_piece(&work, &courses[i], &seen, &cpu[i]);
    }
    CHECK(fabs(ratio_of_all(&seen) - 1) <= 0.02);
}

/* The time of a call that a tick has waited for is its own, and no gap. */
static void test_call(void) {
    struct tick_course course = {0};
    all = (struct tick_courses){0};
    tick_course_begin(&course, 10 * MS, 0);
    course.call_ns = 11 * MS;
    CHECK_UINT(tick_course_meet(&course, &all, TICK, 14 * MS, true), TICK);
    course.call_ns = 15 * MS;
    CHECK_UINT(tick_course_meet(&course, &all, TICK, 35 * MS, true), 20 * MS);
    CHECK_UINT(tick_course_meet(&course, &all, TICK, 38 * MS, false), 9625000);
}

/* One that is found asleep again soon is left alone for longer, up to 4 s. */
static void test_length(void) {
    struct tick_course course = {0};
    uint64_t cpu = 0, length = 20 * MS;
    for (int i = 0; i < 12; i++) {
        tick_course_begin(&course, cpu, 0);
        CHECK(course.on && !tick_course_is_over(&course, cpu + length - 1));
        CHECK(tick_course_is_over(&course, cpu + length));
        CHECK_UINT(tick_course_end(&course, &all, cpu + length + 1), length + 1);
        CHECK(!course.on);
        cpu += length + MS;
        length = length < 2000 * MS ? 2 * length : 4000ull * MS;
    }
    tick_course_begin(&course, cpu + 8000ull * MS, 0);
    CHECK_UINT(course.length_ns, 20 * MS);
}

static void test_avoids(void) {
    struct tick_course course = {0};
    tick_course_begin(&course, MS, 7);
    CHECK(!tick_course_avoids(&course, TICK, MS + 8 * TICK - 1));
    CHECK(tick_course_avoids(&course, TICK, MS + 8 * TICK));
    tick_course_meet(&course, &all, TICK, MS + 8 * TICK, false);
    CHECK(!tick_course_avoids(&course, TICK, MS + 9 * TICK));
    /* it has worked for a tenth of the time: 32 ticks of work take 320 */
    uint64_t patience = tick_course_patience(&course, TICK, MS + 10 * TICK, 7 + 100ull * TICK);
    CHECK_UINT(patience, 320ull * TICK);
    CHECK_UINT(tick_course_patience(&course, TICK, MS, 7), 1000ull * MS);
    CHECK_UINT(tick_course_patience(&course, TICK, MS + TICK, UINT64_MAX / 2), 60000ull * MS);
}

int main(void) {
    test_short_and_long();
    test_begins_at_ticks();
    test_few_ticks();
    test_side_by_side();
    test_call();
    test_length();
    test_avoids();
    return check_report();
}
