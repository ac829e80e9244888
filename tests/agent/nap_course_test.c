/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course_test.c - threads that work in stretches of several lengths between naps: each tenth of
 * each kind of stretch has its time, though few stretches are watched.
 */
#include "preload/sample/nap_course.h"

#include <math.h>

#include "preload/sample/draw.h"
#include "preload/sample/points.h"
#include "preload/sample/ticker.h"
#include "tests/check.h"

#define US        1000ull
#define MS        1000000ull
#define STEP      MS
#define TICK      (4 * MS)
#define KINDS     3
#define PARTS     10
#define STRETCHES 600000

static const struct sampling_plan plan = {
    .coarse_ns = TICK, .fine_ns = STEP, .length_ns = SAMPLING_ENDLESS};

static uint64_t seed = 20261129;

uint64_t ticker_resolution(void) {
    return TICK;
}

static uint64_t below(uint64_t n) {
    return draw_word(&seed) % n;
}

/* ---- when it pays ---- */

static struct nap_course after_series(uint64_t work_ns, uint64_t nap_ns) {
    struct nap_course course = {0};
    uint64_t cpu = MS, time = 7 * MS;
    for (int i = 0; i < 2 * NAP_SERIES; i++) {
        cpu += work_ns;
        nap_course_nap(&course, time + work_ns, time + work_ns + nap_ns);
        time += work_ns + nap_ns;
        if (nap_course_has_series(&course))
            nap_course_read(&course, cpu, time);
    }
    return course;
}

static void test_who_naps(void) {
    static const struct {
        uint64_t work_ns, nap_ns;
        bool pays, is_over;
    } threads[] = {
        {50 * US, 50 * US, true, false},   {50 * US, 5 * MS, true, false},
        {STEP / 4, STEP, true, false},     {STEP / 3, STEP, false, false},
        {50 * US, 40 * US, false, false},  {50 * US, 10 * US, false, true},
        {STEP * 2 / 3, STEP, false, true},
    };
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct nap_course course = after_series(threads[i].work_ns, threads[i].nap_ns);
        CHECK_UINT(course.mean_ns, threads[i].work_ns);
        CHECK(nap_course_pays(&course, STEP) == threads[i].pays);
        CHECK(nap_course_is_over(&course, STEP) == threads[i].is_over);
    }
}

/* ---- what is seen ---- */

/* Stretches of each kind, with the chances `times`, or so many of each in turn. */
struct work {
    uint64_t length[KINDS];
    uint64_t times[KINDS];
    bool in_turn;
    double watched_most; /* stretches, to a sample */
};

struct seen {
    double worked, weight, squares;
};

struct thread {
    struct points points;
    struct nap_course naps;
    uint64_t cpu, time;
    uint64_t watched, samples;
    struct seen seen[KINDS][PARTS];
};

static int kind_of(const struct work *work, uint64_t number) {
    uint64_t all = work->times[0] + work->times[1] + work->times[2];
    uint64_t drawn = work->in_turn ? number % all : below(all);
    return drawn < work->times[0] ? 0 : drawn < work->times[0] + work->times[1] ? 1 : 2;
}

static uint64_t rest(const struct thread *thread) {
    uint64_t next = points_next(&thread->points);
    return next > thread->cpu ? next - thread->cpu : 0;
}

/* As the agent does it: the clock is read where the stretch was watched, or may be. */
static void begin_stretch(struct thread *thread) {
    struct nap_course *naps = &thread->naps;
    uint32_t drawn = 0;
    if (naps->chance == 0) {
        drawn = nap_course_draw(naps, points_next(&thread->points), &seed);
        if (drawn == 0)
            return;
        points_reach(&thread->points, &plan, thread->cpu, &seed);
    }
    nap_course_read(naps, thread->cpu, thread->time);
    if (drawn == 0 || drawn == NAP_CERTAIN)
        drawn = nap_course_draw_known(naps, rest(thread), &seed);
    naps->chance = drawn;
    thread->watched += drawn != 0;
}

static void meet(struct thread *thread, struct seen *seen, uint64_t began, uint64_t length,
                 bool is_long) {
    uint64_t at = points_next(&thread->points);
    double weight =
        (double)nap_course_weight(&thread->naps, points_reach(&thread->points, &plan, at, &seed));
    struct seen *part = &seen[(at - began) * PARTS / length];
    part->weight += weight;
    part->squares += weight * weight;
    thread->samples++;
    thread->cpu = at;
    if (!is_long)
        thread->naps.chance = nap_course_draw_on(&thread->naps, rest(thread), &seed);
}

/* Up to `until`. */
static void work_on(struct thread *thread, struct seen *seen, uint64_t began, uint64_t length,
                    uint64_t until, bool is_long) {
    while (thread->naps.chance != 0 && points_next(&thread->points) < until)
        meet(thread, seen, began, length, is_long);
    thread->cpu = until;
}

/* The first tick of the kernel that finds it long, if one does: all of the rest is watched. */
static void work_stretch(struct thread *thread, const struct work *work, uint64_t number) {
    int kind = kind_of(work, number);
    uint64_t began = thread->cpu, length = work->length[kind];
    uint64_t tick = began + TICK - thread->time % TICK;
    struct seen *seen = thread->seen[kind];
    for (int i = 0; i < PARTS; i++)
        seen[i].worked += (double)length / PARTS;
    while (!nap_course_is_long(&thread->naps, tick - began))
        tick += TICK;
    if (tick < began + length) {
        work_on(thread, seen, began, length, tick, false);
        points_reach(&thread->points, &plan, thread->cpu, &seed);
        thread->naps.chance = NAP_CERTAIN;
        work_on(thread, seen, began, length, began + length, true);
    } else {
        work_on(thread, seen, began, length, began + length, false);
    }
}

static void check(const struct thread *thread, const struct work *work) {
    double all = 0, weight = 0, squares = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < PARTS; i++) {
            const struct seen *part = &thread->seen[kind][i];
            CHECK(fabs(part->weight - part->worked) <= 5 * sqrt(part->squares));
            all += part->worked;
            weight += part->weight;
            squares += part->squares;
        }
    }
    CHECK(fabs(weight - all) <= 4 * sqrt(squares));
    /* chance makes of so many samples as if they were a quarter of them, at worst */
    CHECK(squares * (double)thread->samples <= 4 * weight * weight);
    CHECK((double)thread->watched <= work->watched_most * (double)thread->samples);
}

/* Where those of one kind follow those of another in turn, what was met in some must have no say in
 * how others are seen. */
static void test_each_moment_has_its_time(void) {
    static const struct work works[] = {
        {{50 * US, 50 * US, 50 * US}, {1, 1, 1}, false, 4.5},
        {{10 * US, 60 * US, 300 * US}, {4, 4, 1}, false, 5.5},
        {{20 * US, 100 * US, 30 * MS}, {2000, 2000, 1}, false, 4.5},
        {{100 * US, 100 * US, 800 * US}, {20, 9, 1}, false, 4.5},
        {{5 * US, 8 * US, 11 * US}, {1, 1, 1}, false, 14},
        {{60 * US, 60 * US, 3 * MS}, {20, 20, 1}, true, 5.5},
        {{50 * US, 50 * US, 1 * MS}, {5, 5, 1}, true, 5.5},
        {{20 * US, 20 * US, 500 * US}, {15, 10, 1}, true, 7.5},
    };
    for (unsigned i = 0; i < sizeof works / sizeof *works; i++) {
        static struct thread thread;
        thread = (struct thread){.cpu = 50 * MS, .time = 60 * MS};
        points_begin(&thread.points, &plan, thread.cpu, &seed);
        points_draw_single(&thread.points, true);
        thread.naps = after_series(50 * US, 200 * US);
        nap_course_begin(&thread.naps, thread.cpu);
        thread.naps.chance = NAP_CERTAIN;
        thread.naps.read_ns = thread.cpu;
        thread.naps.read_time = thread.naps.began_time = thread.time;
        for (int k = 0; k < STRETCHES; k++) {
            uint64_t before = thread.cpu, nap = 20 * US + below(400 * US);
            work_stretch(&thread, &works[i], k);
            thread.time += thread.cpu - before;
            nap_course_nap(&thread.naps, thread.time, thread.time + nap);
            thread.time += nap;
            begin_stretch(&thread);
        }
        check(&thread, &works[i]);
    }
}

/* A point that was missed is passed over, and no chance is so small that one sample has it all. */
static void test_bounds(void) {
    struct nap_course course = after_series(US, 20 * US);
    course.on = true;
    for (int i = 0; i < 10000; i++) {
        uint32_t chance = nap_course_draw_known(&course, 100 * STEP, &seed);
        CHECK(chance == 0 || chance == NAP_CERTAIN / 16);
    }
    course.chance = NAP_CERTAIN / 16;
    CHECK_UINT(nap_course_draw_on(&course, STEP, &seed), NAP_CERTAIN / 16);
    CHECK_UINT(nap_course_weight(&course, STEP), 16 * STEP);
    CHECK(!nap_course_is_certain(&course));
    course.on = false;
    CHECK_UINT(nap_course_weight(&course, STEP), STEP);
    CHECK(nap_course_is_certain(&course));
}

/* Of samples that weigh the same, or as one in ten that weighs ten times as much as the others. */
static void test_few_stretches_have_most(void) {
    struct nap_course course = {.on = true};
    for (int i = 0; i < 2000; i++) {
        nap_course_sampled(&course, STEP);
        CHECK(!nap_course_varies(&course, STEP));
    }
    CHECK_UINT(course.needed, 0);
    for (uint32_t needed = 4 * NAP_SERIES; needed <= 4 * 4 * 4 * NAP_SERIES; needed *= 4) {
        int samples = 0;
        course.weights_us = course.squares_us = 0;
        do
            nap_course_sampled(&course, ++samples % 10 == 0 ? 10 * STEP : STEP);
        while (!nap_course_varies(&course, STEP) && samples < 1000);
        CHECK(samples < 64);
        CHECK_UINT(course.needed, needed);
    }
    for (int i = 0; i < 8; i++) {
        CHECK(!nap_course_varies(&course, STEP));
        nap_course_tick(&course, i % 2 == 0);
    }
    CHECK(nap_course_varies(&course, STEP));
    for (int i = 0; i < 20000; i++) {
        nap_course_sampled(&course, STEP);
        CHECK(!nap_course_varies(&course, STEP));
    }
    CHECK(!nap_course_has_series(&course) && course.needed < NAP_SERIES);
}

/* A tenth of the thread's time was the agent's: its samples weigh a ninth more. */
static void test_own_time_is_spread(void) {
    struct nap_course course = {0};
    uint64_t cpu = MS;
    nap_course_begin(&course, cpu);
    course.chance = NAP_CERTAIN;
    for (int i = 0; i < 10000; i++) {
        cpu += 10 * MS;
        nap_course_took(&course, MS);
        nap_course_spread(&course, cpu);
    }
    uint64_t weight = nap_course_weight(&course, 9 * STEP);
    CHECK(weight >= 10 * STEP - STEP / 100 && weight <= 10 * STEP + STEP / 100);
    nap_course_took(&course, 1000000 * MS);
    nap_course_spread(&course, cpu + MS);
    CHECK(nap_course_weight(&course, STEP) <= 2 * STEP);
}

int main(void) {
    test_who_naps();
    test_each_moment_has_its_time();
    test_bounds();
    test_few_stretches_have_most();
    test_own_time_is_spread();
    return check_report();
}
