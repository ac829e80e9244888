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
    uint64_t span_ns;               /* of the next stretch; 0: stretches have no points */
    uint32_t naps;                  /* of this series, which ... */
    uint64_t series_ns;             /* ... began here, ... */
    uint64_t series_time;
    uint64_t mean_ns; /* length of a stretch of the last series; 0: not known */
    bool over;        /* a stretch was longer than a step, or a series none of short ones */
};

/* ---- at all times ---- */

/* A nap is over, while points lie on the CPU clock. True: it was the last one of a series. */
bool nap_course_nap(struct nap_course *course);
/* A series is over: whether its stretches were so short, and so far apart, that stretches should
 * have their own points, `step_ns` apart. That depends on the program alone: if it depended on
 * timers that have met its naps, then on where points are. */
bool nap_course_pays(struct nap_course *course, uint64_t cpu_ns, uint64_t time, uint64_t step_ns);

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
/* The thread naps no more, as it did: known at the end of a nap. */
static inline bool nap_course_is_over(const struct nap_course *course) {
    return course->over;
}

#endif
