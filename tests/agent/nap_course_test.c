/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course_test.c - threads that work in short and long stretches between naps: each moment of a
 * stretch's span is as likely to be a point, and what the points and the kernel's ticks
 * weigh together is what was worked, in stretches of each kind.
 */
#include "preload/sample/nap_course.h"

#include <math.h>

#include "preload/sample/draw.h"
#include "preload/sample/tick_course.h"
#include "tests/check.h"

#define TICK  4000000u
#define STEP  1000000u
#define US    1000u
#define MS    1000000u
#define KINDS 2

/* Stretches of one length or the other, the first `times` times as often. */
struct work {
    uint64_t length[KINDS];
    uint64_t times;
};

static uint64_t seed = 20261129;

static uint64_t below(uint64_t n) {
    return draw_word(&seed) % n;
}

#define SERIES 32

/* A series of naps, between which a thread has worked for so long each, and slept for so long. */
static bool pays(struct nap_course *course, uint64_t stretch_ns, uint64_t nap_ns) {
    uint64_t cpu = course->series_ns + SERIES * stretch_ns,
             time = course->series_time + SERIES * (stretch_ns + nap_ns);
    for (int i = 1; i <= SERIES; i++)
        CHECK(nap_course_nap(course) == (i == SERIES));
    return nap_course_pays(course, cpu, time, STEP);
}

/* A thread whose stretches have points. */
static struct nap_course that_naps(uint64_t stretch_ns) {
    struct nap_course course = {0};
    CHECK(!pays(&course, stretch_ns, stretch_ns)); /* where the first one began is not known */
    CHECK(pays(&course, stretch_ns, stretch_ns));
    nap_course_begin(&course, STEP, &seed);
    return course;
}

/* Tenths of the span of stretches that are as long as all of it, or half as long: which one a point
 * lies in. */
static void test_moments_are_alike(void) {
    enum { PARTS = 10, STRETCHES = 2000000 };
    static double points[PARTS];
    double worked[PARTS] = {0}, step = STEP;
    struct nap_course course = that_naps(50 * US);
    uint64_t cpu = 5 * MS;
    CHECK_UINT(course.span_ns, 100 * US);
    for (int i = 0; i < STRETCHES; i++) {
        uint64_t at = nap_course_stretch(&course, cpu, 0, &seed), span = course.now.span_ns;
        uint64_t length = i % 3 == 0 ? span / 2 : span;
        for (unsigned k = 0; k < PARTS && k * span / PARTS < length; k++)
            worked[k] += (double)span / PARTS;
        if (at < length)
            points[at * PARTS / span]++;
        cpu += length;
    }
    for (int k = 0; k < PARTS; k++)
        CHECK(fabs(points[k] * step / worked[k] - 1) <= 4 / sqrt(points[k]));
}

/* So long that one in 32 is longer. */
static void test_span(void) {
    struct nap_course course = that_naps(50 * US);
    uint64_t cpu = 5 * MS, longer = 0, length = 0;
    for (int i = 0; i < 400000; i++) {
        nap_course_stretch(&course, cpu, 0, &seed);
        length = 20 * US + below(160 * US);
        longer += length > course.now.span_ns;
        cpu += length;
    }
    CHECK(longer > 400000 / 40 && longer < 400000 / 26);
}

struct seen {
    double worked[KINDS], weight[KINDS];
    unsigned samples;
};

struct thread {
    struct tick_course ticks;
    struct nap_course naps;
    uint64_t cpu;
};

static struct tick_courses all;

static void meet(struct thread *thread, struct seen *seen, int kind, uint64_t at, uint32_t parts) {
    seen->weight[kind] +=
        (double)tick_course_meet(&thread->ticks, &all, parts, thread->cpu + at, false);
    seen->samples++;
}

/* Its point, and the ticks behind its span, in their order. */
static void work_a_stretch(struct thread *thread, struct seen *seen, const struct work *work) {
    int kind = below(work->times + 1) == 0;
    uint64_t length = work->length[kind], phase = below(TICK);
    uint64_t at = nap_course_stretch(&thread->naps, thread->cpu, 0, &seed);
    const struct nap_stretch *now = &thread->naps.now;
    if (at < length)
        meet(thread, seen, kind, at, 1);
    for (uint64_t tick = TICK - phase; tick < length; tick += TICK)
        if (!nap_stretch_spans(now, thread->cpu + tick))
            meet(thread, seen, kind, tick, tick_course_parts(&thread->ticks, draw_word(&seed)));
    seen->worked[kind] += (double)length;
    thread->cpu += length;
}

static double ratio(const struct seen *seen, int kind) {
    return seen->weight[kind] / seen->worked[kind];
}

/* Each kind has its time, within 4 standard deviations of ticks or of points, and the total is
 * right. */
static void test_each_has_its_time(void) {
    static const struct work works[] = {{{40 * US, 40 * US}, 1},
                                        {{20 * US, 100 * US}, 3},
                                        {{30 * US, 1 * MS}, 50},
                                        {{10 * US, 20 * MS}, 3000}};
    for (unsigned i = 0; i < sizeof works / sizeof works[0]; i++) {
        struct seen seen = {{0}, {0}, 0};
        struct thread thread = {.naps = that_naps(50 * US), .cpu = 5 * MS};
        all = (struct tick_courses){0};
        tick_course_begin(&thread.ticks, &all, TICK, STEP, thread.cpu, 0);
        for (int k = 0; k < 1000000; k++)
            work_a_stretch(&thread, &seen, &works[i]);
        for (int kind = 0; kind < KINDS; kind++) {
            double apart = works[i].length[kind] > MS / 2 ? TICK : STEP;
            CHECK(fabs(ratio(&seen, kind) - 1) <= 4 * sqrt(apart / seen.worked[kind]) + 0.005);
        }
        double worked = seen.worked[0] + seen.worked[1];
        CHECK(fabs((seen.weight[0] + seen.weight[1]) / worked - 1) <= 0.002);
    }
}

/* Long stretches need no points of their own, nor those of a thread that hardly sleeps. */
static void test_pays(void) {
    struct nap_course course = that_naps(250 * US);
    CHECK_UINT(course.span_ns, STEP / 2);
    CHECK(!pays(&course, 251 * US, 300 * US));
    CHECK(!pays(&course, 100 * US, 99 * US));
    CHECK(pays(&course, 100 * US, 100 * US));
}

/* It ends with a series of longer stretches, and with one that is longer than a step. */
static void test_over(void) {
    static const struct {
        uint64_t length[2];
        int times; /* of the first, for each of the second */
        bool over;
    } cases[] = {{{50 * US, 50 * US}, 1, false},
                 {{300 * US, 300 * US}, 1, true},
                 {{20 * US, 1001 * US}, 255, true},
                 {{20 * US, 999 * US}, 255, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nap_course course = that_naps(50 * US);
        uint64_t cpu = 5 * MS;
        for (int k = 0; k < 8 * SERIES + 1; k++) {
            nap_course_stretch(&course, cpu, 0, &seed);
            cpu += cases[i].length[k % (cases[i].times + 1) == cases[i].times];
        }
        CHECK(nap_course_is_over(&course) == cases[i].over);
    }
}

/* Nothing is a stretch's before its beginning is known. */
static void test_spans(void) {
    struct nap_course course = that_naps(50 * US);
    CHECK(!nap_stretch_spans(&course.now, 7 * MS));
    nap_course_stretch(&course, 7 * MS, 1, &seed);
    CHECK(nap_stretch_spans(&course.now, 7 * MS));
    CHECK(nap_stretch_spans(&course.now, 7 * MS + 100 * US - 1));
    CHECK(!nap_stretch_spans(&course.now, 7 * MS + 100 * US));
    nap_course_end(&course);
    CHECK(!nap_stretch_spans(&course.now, 7 * MS));
}

/* Points of which timers meet too many are further apart, up to a quarter, also the next time. */
static void test_weighed(void) {
    struct nap_course course = that_naps(50 * US);
    for (int i = 0; i < 200; i++)
        nap_course_weighed(&course, STEP * 9 / 10, STEP);
    CHECK(course.steps.mean_ns > STEP * 110 / 100 && course.steps.mean_ns < STEP * 112 / 100);
    nap_course_end(&course);
    nap_course_begin(&course, STEP, &seed);
    CHECK(course.steps.mean_ns > STEP * 110 / 100);
    for (int i = 0; i < 200; i++)
        nap_course_weighed(&course, 0, STEP);
    CHECK(course.steps.mean_ns <= STEP * 5 / 4 && course.steps.mean_ns > STEP * 124 / 100);
    nap_course_begin(&course, STEP / 2, &seed);
    CHECK_UINT(course.steps.mean_ns, STEP / 2 * 5 / 4);
}

int main(void) {
    test_moments_are_alike();
    test_span();
    test_each_has_its_time();
    test_pays();
    test_over();
    test_spans();
    test_weighed();
    return check_report();
}
