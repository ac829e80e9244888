/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course.c - a course of steps that are longer than any span: no stretch has two points.
 */
#include "preload/sample/nap_course.h"

#include "preload/sample/draw.h"

#define EARLY_MANY  16 /* timers that were in vain */
#define EARLY_POINT 2  /* so many for each point are no matter */
#define EARLY_MOST  32
#define NAPS_KNOWN  4     /* in one reading of the clock */
#define LEARNED     16    /* part of what is new */
#define SPAN_GROWS  8     /* by one part in so many, where a stretch is longer ... */
#define SPAN_SHRINK 256   /* ... and shrinks by one in so many: one in 32 is longer */
#define SPAN_LEAST  60000 /* a timer takes a third of that to come */
#define TICKS_MANY  4     /* in one stretch: it computes */
#define STEP_OFF    4     /* steps may be longer or shorter by one part in so many */

static void learn(struct nap_course *course, uint64_t length) {
    int64_t known = (int64_t)course->mean_ns;
    course->mean_ns = known == 0 ? length : (uint64_t)(known + ((int64_t)length - known) / LEARNED);
}

void nap_course_count(struct nap_course *course, uint64_t cpu_ns) {
    if (course->counted_ns != 0 && course->naps < NAPS_KNOWN)
        return;
    if (course->counted_ns != 0)
        learn(course, (cpu_ns - course->counted_ns) / course->naps);
    course->counted_ns = cpu_ns;
    course->naps = 0;
}

void nap_course_early(struct nap_course *course) {
    if (course->early < EARLY_MOST)
        course->early++;
}

void nap_course_met(struct nap_course *course) {
    course->early -= course->early < EARLY_POINT ? course->early : EARLY_POINT;
}

static bool are_short(const struct nap_course *course, uint64_t step_ns) {
    return course->mean_ns != 0 && course->mean_ns <= step_ns / 4 && SPAN_LEAST <= step_ns / 2;
}

bool nap_course_pays(const struct nap_course *course, uint64_t step_ns) {
    return course->early >= EARLY_MANY && are_short(course, step_ns);
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
    course->ticks = course->early = 0;
    course->now = course->before = (struct nap_stretch){0};
    course->span_ns = are_short(course, step_ns) ? span(2 * course->mean_ns, step_ns) : 0;
    course->until_ns = interval_begin(&course->steps, mean, 1, drawn);
}

void nap_course_end(struct nap_course *course) {
    course->point_ns = course->span_ns = 0;
    course->now = (struct nap_stretch){0};
    course->counted_ns = course->naps = 0;
}

static void learn_span(struct nap_course *course, uint64_t length) {
    bool is_longer = length > course->span_ns;
    uint64_t ns = is_longer ? course->span_ns + course->span_ns / SPAN_GROWS
                            : course->span_ns - course->span_ns / SPAN_SHRINK;
    course->span_ns = span(ns, course->steps.mean_ns);
}

uint64_t nap_course_stretch(struct nap_course *course, uint64_t cpu_ns, uint64_t time,
                            uint64_t *random) {
    if (course->now.began_ns != 0) {
        learn(course, cpu_ns - course->now.began_ns);
        learn_span(course, cpu_ns - course->now.began_ns);
    }
    course->before = course->now;
    course->now = (struct nap_stretch){cpu_ns, time, course->span_ns};
    course->point_ns = 0;
    course->ticks = 0;
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

bool nap_course_is_over(const struct nap_course *course, uint64_t step_ns) {
    return course->span_ns != 0 && (course->ticks >= TICKS_MANY || !are_short(course, step_ns));
}
