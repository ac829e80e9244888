/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course.h - of a thread that naps, the stretches between naps that have a point, and where.
 *
 * A thread that works for 50 us between naps meets twenty of them before a point that is 1 ms of
 * its work away, and a timer of real time expires in most. So its points do not lie on its CPU
 * clock, but on one on which each stretch has the same length, its span, however long it really is.
 * The timer is set in the few stretches that have a point, and to that. What of a stretch lies
 * behind its span is left to the kernel's ticks (tick_course.h), which also has what all of them
 * weigh. Each moment of the span is as likely to be a point, whatever the stretch: doc/sampling.md.
 *
 * The span is as long as most stretches were before. A nap is the end of its stretch, with what the
 * thread works in it.
 *
 * Functions of their arguments alone; times are ns of the thread's CPU clock, but for those named
 * `time`, of CLOCK_MONOTONIC. On the thread, any context.
 */
#ifndef HCCT_NAP_COURSE_H
#define HCCT_NAP_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/interval.h"

/* A part of a thread's work, from the end of a nap to that of the next one. */
struct nap_stretch {
    uint64_t began_ns, began_time; /* 0: nobody knows */
    uint64_t span_ns;              /* where points may be; 0: ticks have all */
};

/* All zero: nothing is known of the thread. */
struct nap_course {
    struct interval_course steps; /* between points */
    uint64_t until_ns;            /* from a stretch's beginning to the next point, on their clock */
    struct nap_stretch now, before; /* stretches */
    uint64_t point_ns;              /* in this one, which has yet to come; 0: there is none */
    uint32_t ticks;                 /* behind its span */
    uint32_t early;                 /* expiries that came too early, less some for each point */
    uint32_t naps;                  /* since ... */
    uint64_t counted_ns;            /* ... the clock said so */
    uint64_t mean_ns;               /* length of a stretch; 0: not known yet */
    uint64_t span_ns;               /* of the next stretch; 0: stretches have no points */
};

/* ---- what is learned while points lie on the CPU clock ---- */

/* A nap is over. */
static inline void nap_course_nap(struct nap_course *course) {
    course->naps++;
}
/* The clock says `cpu_ns`. */
void nap_course_count(struct nap_course *course, uint64_t cpu_ns);
/* A timer has met the thread's nap, before its point. */
void nap_course_early(struct nap_course *course);
/* One has met its point. */
void nap_course_met(struct nap_course *course);
/* Naps cost so many timers that stretches should have their own points, `step_ns` apart. */
bool nap_course_pays(const struct nap_course *course, uint64_t step_ns);

/* ---- while stretches have points ---- */

/* From here on those that begin have, if they are short enough for points that are `step_ns` apart.
 */
void nap_course_begin(struct nap_course *course, uint64_t step_ns, uint64_t *random);
void nap_course_end(struct nap_course *course);
/* A nap is over, and a stretch begins. Returns how far in it its point is; NAP_NO_POINT: it has
 * none. */
#define NAP_NO_POINT UINT64_MAX
uint64_t nap_course_stretch(struct nap_course *course, uint64_t cpu_ns, uint64_t time,
                            uint64_t *random);
/* A point of points that should weigh `step_ns` weighs `weight_ns`: where timers meet more of them
 * than there should be, or fewer, the next are further apart, or closer. */
void nap_course_weighed(struct nap_course *course, uint64_t weight_ns, uint64_t step_ns);
/* A moment of a stretch is in its span: ticks have no say there. */
static inline bool nap_stretch_spans(const struct nap_stretch *stretch, uint64_t cpu_ns) {
    return cpu_ns - stretch->began_ns < stretch->span_ns;
}
/* A tick has met the stretch behind its span, or a point was met: whether the thread naps no more,
 * as it did. */
bool nap_course_is_over(const struct nap_course *course, uint64_t step_ns);

#endif
