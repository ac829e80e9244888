/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_course.h - while a thread is sampled at the kernel's ticks: what they weigh, when that is
 * over, and whether they meet it at all.
 *
 * A thread that sleeps in calls that are not wrapped (within libc's streams and locks, or system
 * calls of the program's own) goes on unseen. A timer of real time meets it asleep, and what runs
 * next would have the points of what ran before. Each tick of the kernel that meets a thread at
 * work is as likely wherever it works, however short it does: so each weighs the same, as much as
 * the thread works from one to the next, on average (doc/sampling.md).
 *
 * It lasts for a length of CPU time, which doubles where the thread is found asleep again soon: so
 * what is left to chance at its beginning and end is little beside it.
 *
 * Functions of their arguments alone; times are ns of the thread's CPU clock, but for `time`, of
 * CLOCK_MONOTONIC. `tick_ns`: the kernel's. Any context.
 */
#ifndef HCCT_TICK_COURSE_H
#define HCCT_TICK_COURSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How much was worked so far while ticks were waited for, and how many came. Both are halved from
 * time to time, so that what was long ago is forgotten. */
struct tick_gaps {
    _Atomic uint64_t worked_ns;
    _Atomic uint32_t ticks;
};

/* Of all threads of a process. */
struct tick_courses {
    struct tick_gaps gaps;
    _Atomic int64_t missing_ns; /* that were worked, and that no tick has weighed */
};

struct tick_course {
    bool on;
    uint64_t began_ns;
    uint64_t began_time; /* of CLOCK_MONOTONIC */
    uint64_t until_ns;
    uint64_t length_ns; /* of the last one; 0: there was none */
    uint64_t left_ns;   /* when that was over */
    uint64_t met_ns;    /* the last tick, or the beginning */
    uint64_t call_ns;   /* where a call has begun in which ticks wait for its end */
    uint64_t first_ns;  /* what its first tick has weighed; 0: there was none yet */
    struct tick_gaps gaps;
};

void tick_course_begin(struct tick_course *course, uint64_t cpu_ns, uint64_t time);
/* How long it was is left out of the clock of other points. `all`: of all threads of the process,
 * which a thread of few ticks goes by. */
uint64_t tick_course_end(struct tick_course *course, struct tick_courses *all, uint64_t cpu_ns);

/* A tick has met the thread, or a call that it waited for. Returns what it weighs: by ticks before.
 */
uint64_t tick_course_meet(struct tick_course *course, struct tick_courses *all, uint64_t tick_ns,
                          uint64_t cpu_ns, bool in_call);
bool tick_course_is_over(const struct tick_course *course, uint64_t cpu_ns);
/* The thread has worked for so long without a tick that there is none for it: it begins to work at
 * ticks, and sleeps before the next one. */
bool tick_course_avoids(const struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns);
/* Real time after which to look whether that is so: by how long it took so far to work. Where the
 * thread sleeps then, it is disturbed. */
uint64_t tick_course_patience(const struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns,
                              uint64_t time);
#endif
