/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course.c - a course of steps that are longer than any span: no stretch has two points.
 */
#include "preload/sample/nap_course.h"

#include "preload/sample/draw.h"

#define SERIES      32    /* naps */
#define LEARNED     16    /* part of what is new */
#define SPAN_GROWS  8     /* by one part in so many, where a stretch is longer ... */
#define SPAN_SHRINK 256   /* ... and shrinks by one in so many: one in 32 is longer */
#define SPAN_LEAST  60000 /* a timer takes a third of that to come */
#define RUNS_MOST   2     /* and of the time that passes */
#define STEP_OFF    4     /* steps may be longer or shorter by one part in so many */

static bool are_short(const struct nap_course *course, uint64_t step_ns) {
    return course->mean_ns != 0 && course->mean_ns <= step_ns / 4 && SPAN_LEAST <= step_ns / 2;
}

static void begin_series(struct nap_course *course, uint64_t cpu_ns, uint64_t time) {
    course->series_ns = cpu_ns;
    course->series_time = time;
    course->naps = 0;
}

bool nap_course_nap(struct nap_course *course) {
    return ++course->naps >= SERIES;
}

bool nap_course_pays(struct nap_course *course, uint64_t cpu_ns, uint64_t time, uint64_t step_ns) {
    uint64_t ran = cpu_ns - course->series_ns, passed = time - course->series_time;
    course->mean_ns = course->series_ns == 0 ? 0 : ran / course->naps;
    begin_series(course, cpu_ns, time);
    return are_short(course, step_ns) && ran <= passed / RUNS_MOST;
}

/* No span is longer than the shortest step. */
static uint64_t span(uint64_t ns, uint64_t step_ns) {
    uint64_t most = step_ns / 2;
    return ns > most ? most : ns < SPAN_LEAST ? SPAN_LEAST : ns;
}

/* How long steps may be that should be so long. */
static uint64_t within(uint64_t ns, uint64_t step_ns) {
    uint64_t least = step_ns - step_ns / STEP_OFF, most = step_ns + step_ns / STEP_OFF;
    return ns < least ? least : ns > most ? most : ns;
}

void nap_course_begin(struct nap_course *course, uint64_t step_ns, uint64_t *random) {
    uint64_t mean = course->steps.mean_ns == 0 ? step_ns : within(course->steps.mean_ns, step_ns);
    const uint64_t drawn[INTERVAL_WORDS] = {draw_word(random), draw_word(random)};
    course->point_ns = 0;
    course->over = false;
    course->now = course->before = (struct nap_stretch){0};
    course->span_ns = are_short(course, step_ns) ? span(2 * course->mean_ns, step_ns) : 0;
    course->until_ns = interval_begin(&course->steps, mean, 1, drawn);
}

void nap_course_end(struct nap_course *course) {
    course->point_ns = course->span_ns = 0;
    course->now = (struct nap_stretch){0};
    course->series_ns = course->naps = 0;
}

static void learn_span(struct nap_course *course, uint64_t length) {
    bool is_longer = length > course->span_ns;
    uint64_t ns = is_longer ? course->span_ns + course->span_ns / SPAN_GROWS
                            : course->span_ns - course->span_ns / SPAN_SHRINK;
    course->span_ns = span(ns, course->steps.mean_ns);
}

/* Of a stretch that is over. */
static void learn(struct nap_course *course, uint64_t length, uint64_t cpu_ns) {
    learn_span(course, length);
    course->over |= length > course->steps.mean_ns;
    if (++course->naps < SERIES)
        return;
    course->mean_ns = (cpu_ns - course->series_ns) / course->naps;
    course->over |= !are_short(course, course->steps.mean_ns);
    begin_series(course, cpu_ns, 0);
}

uint64_t nap_course_stretch(struct nap_course *course, uint64_t cpu_ns, uint64_t time,
                            uint64_t *random) {
    if (course->now.began_ns != 0)
        learn(course, cpu_ns - course->now.began_ns, cpu_ns);
    else
        begin_series(course, cpu_ns, 0);
    course->before = course->now;
    course->now = (struct nap_stretch){cpu_ns, time, course->span_ns};
    course->point_ns = 0;
    if (course->until_ns >= course->span_ns) {
        course->until_ns -= course->span_ns;
        return NAP_NO_POINT;
    }
    uint64_t at = course->until_ns;
    uint64_t next = at + interval_next(&course->steps, 1, draw_word(random));
    course->until_ns = next > course->span_ns ? next - course->span_ns : 0;
    return at;
}

void nap_course_weighed(struct nap_course *course, uint64_t weight_ns, uint64_t step_ns) {
    uint64_t ns = within(step_ns * step_ns / (weight_ns + 1), step_ns);
    int64_t known = (int64_t)course->steps.mean_ns;
    course->steps.mean_ns = (uint64_t)(known + ((int64_t)ns - known) / LEARNED);
}
