/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * points.h - the points of a thread's CPU time at which it is to be sampled: all that it runs, or
 * in bursts.
 *
 * Each point weighs its step (interval.h), in bursts as many times that as a period is longer than
 * a burst. Bursts begin at a course of single steps of their own; two that touch are one. Both
 * courses begin as if they had always been going on. So the expected weight is 1 per unit of CPU
 * time from the first moment on: doc/sampling.md.
 *
 * Pure functions; `random` is the state of draw_word. Any context.
 */
#ifndef HCCT_POINTS_H
#define HCCT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/interval.h"
#include "preload/sample/plan.h"

/* Points that have the same step, where a thread computes: a timer goes on by itself. */
#define POINTS_BLOCK 16

/* Times are CPU times of the thread, in ns. */
struct points {
    struct interval_course steps;  /* between points */
    struct interval_course bursts; /* between beginnings of bursts */
    uint64_t due_ns;               /* the next point, where that is before ... */
    uint64_t end_ns;               /* ... the end of the burst; SAMPLING_ENDLESS */
    uint64_t next_ns;              /* the next burst begins; SAMPLING_ENDLESS: there is none */
    uint32_t begun;                /* bursts, so far */
    uint32_t early;                /* ticks that came too early, in this block of steps */
    bool naps;                     /* the thread sleeps often: each step is drawn by itself */
    bool single;                   /* so is each for another reason */
};

/* The points of a plan with a fine timer, from `since` on. */
void points_begin(struct points *points, const struct sampling_plan *plan, uint64_t since,
                  uint64_t *random);

/* True: what comes next is a point, false: it is the beginning of a burst. */
static inline bool points_in_burst(const struct points *points) {
    return points->due_ns < points->end_ns;
}

/* When that is. */
static inline uint64_t points_next(const struct points *points) {
    return points_in_burst(points) ? points->due_ns : points->next_ns;
}

/* The weight of all points up to and at `limit`, which are over then; 0: there were none. */
uint64_t points_reach(struct points *points, const struct sampling_plan *plan, uint64_t limit,
                      uint64_t *random);

/* A tick came before the next point. */
void points_early(struct points *points);

/* From the next block on each step is drawn by itself, or where the thread sleeps often only. */
void points_draw_single(struct points *points, bool single);

/* All that is to come is put off by `ns`. */
void points_put_off(struct points *points, uint64_t ns);

#endif
