/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_course.h - of a thread that naps, the stretches between naps in which its point is waited
 * for.
 *
 * A thread that works for 50 us between naps meets twenty of them before a point that is 1 ms of
 * its work away, and a timer of real time would expire in most. So a stretch is watched by chance:
 * certainly where the point is no further away than a stretch is long on average, m, and with
 * probability m/r where it is r away. A point that is met in a stretch that was watched with
 * probability p weighs 1/p of what it would; one of a stretch that was not is passed over. The
 * chance is drawn when the stretch begins, before anybody knows how long it will be: so each moment
 * has the weight that its point would have had, on average, whatever the program does
 * (doc/sampling.md). The timer is set ln(f/m) + 1 times for a point that is f of work away.
 *
 * How far away the point is need not be known: an estimate will do, as long as the weight goes with
 * it. So the CPU clock, which is dear, is read where a stretch is watched, and not for each nap.
 *
 * Functions of their arguments alone; times are ns of the thread's CPU clock, but for those named
 * `time`, of CLOCK_MONOTONIC. On the thread, any context.
 */
#ifndef HCCT_NAP_COURSE_H
#define HCCT_NAP_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#define NAP_CERTAIN (1u << 30) /* as the chance of a stretch */

/* All zero: nothing is known of the thread. */
struct nap_course {
    bool on;             /* stretches are watched by chance */
    uint32_t chance;     /* that this one was watched with, in parts of NAP_CERTAIN; 0: it is not */
    uint64_t began_time; /* the stretch */
    uint64_t read_ns;    /* both clocks, when they were read last; 0: they were not */
    uint64_t read_time;
    uint32_t naps;       /* since then */
    uint64_t ran_time;   /* outside naps, since then: up to the last one's end */
    uint64_t mean_ns;    /* work from the end of a nap to that of the next one, on average */
    uint64_t mean_time;  /* how long that takes */
    uint64_t nap_ns;     /* work in a nap */
    uint64_t since_ns;   /* from here on ... */
    uint64_t own_ns;     /* ... the agent took so much */
    uint32_t own_share;  /* of what is left, in parts of NAP_CERTAIN */
    uint64_t weights_us; /* of the last samples, ... */
    uint64_t squares_us; /* ... and their squares */
    uint32_t ticks;      /* of the kernel, that have met the thread, ... */
    uint32_t long_ticks; /* ... and long stretches */
    uint32_t needed;     /* naps before stretches are watched by chance again; 0: a series */
};

/* A nap is over, from `began_time` to `time`: a stretch begins. */
static inline void nap_course_nap(struct nap_course *course, uint64_t began_time, uint64_t time) {
    course->ran_time += began_time - course->began_time;
    course->began_time = time;
    course->naps++;
}

/* So many naps are over that their stretches say how the thread works. */
#define NAP_SERIES 32
static inline bool nap_course_has_series(const struct nap_course *course) {
    return course->naps >= (course->needed > NAP_SERIES ? course->needed : NAP_SERIES);
}

/* At the end of a nap both clocks show this: what stretches are like is learned. */
void nap_course_read(struct nap_course *course, uint64_t cpu_ns, uint64_t time);

/* After nap_course_read. The thread has naps so often, and works so little between them, that
 * points `step_ns` apart should be waited for by chance; and it has no more. Neither depends on
 * where points are. */
bool nap_course_pays(const struct nap_course *course, uint64_t step_ns);
bool nap_course_is_over(const struct nap_course *course, uint64_t step_ns);
/* A sample weighs so much. */
void nap_course_sampled(struct nap_course *course, uint64_t weight_ns);
/* A tick of the kernel has met a stretch: a long one, or not. */
void nap_course_tick(struct nap_course *course, bool is_long);
/* Much of the thread's time is in few stretches: samples weigh so differently that a third of them
 * would say as much if all weighed the same, or many ticks have met long ones. The next series has
 * to be longer, four times each time. */
bool nap_course_varies(struct nap_course *course, uint64_t step_ns);

/* Stretches are watched by chance from here on. */
void nap_course_begin(struct nap_course *course, uint64_t cpu_ns);

/* A stretch that has lasted for so long is worth it that all of its points are waited for. */
static inline bool nap_course_is_long(const struct nap_course *course, uint64_t ns) {
    return ns >= 4 * course->mean_ns;
}

/* A stretch begins whose point is at `next_ns`: by an estimate of where the thread's clock is, with
 * which chance it is to be watched. 0: it is not. */
uint32_t nap_course_draw(const struct nap_course *course, uint64_t next_ns, uint64_t *random);
/* The same where the point is known to be `rest_ns` away. */
uint32_t nap_course_draw_known(const struct nap_course *course, uint64_t rest_ns, uint64_t *random);
/* A watched stretch has met its point: with which chance it is watched up to the next one. */
uint32_t nap_course_draw_on(const struct nap_course *course, uint64_t rest_ns, uint64_t *random);

/* What a point weighs that has been met, and would weigh so much. */
static inline uint64_t nap_course_weight(const struct nap_course *course, uint64_t weight) {
    if (!course->on || course->chance == 0)
        return weight;
    weight = (uint64_t)((unsigned __int128)weight * NAP_CERTAIN / course->chance);
    return weight + (uint64_t)((unsigned __int128)weight * course->own_share / NAP_CERTAIN);
}
/* A sample has taken so much of the thread's time, which lies on no clock of points. It is spread
 * over all samples alike: what one weighs more follows from the last second of CPU time. */
static inline void nap_course_took(struct nap_course *course, uint64_t ns) {
    course->own_ns += ns;
}
void nap_course_spread(struct nap_course *course, uint64_t cpu_ns);

/* Nothing was left to chance. */
static inline bool nap_course_is_certain(const struct nap_course *course) {
    return !course->on || course->chance == NAP_CERTAIN;
}

#endif
