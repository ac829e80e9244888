/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_clock.h - the clock of the wall clock's points, the points, and the timer that waits for
 * them.
 *
 * The points are drawn by interval.h on CLOCK_MONOTONIC. Where only sleep is asked for (off_only)
 * their clock is real time less CPU time: it stands still whenever the thread runs. It also stands
 * still in a gap (wall_sleep.h). Private to wall*.c. On the thread itself, in any context, unless
 * it is said otherwise.
 */
#ifndef HCCT_WALL_CLOCK_H
#define HCCT_WALL_CLOCK_H

#include "preload/life/thread.h"

static inline struct ticker *wall_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_WALL];
}

/* How far the clock is behind CLOCK_MONOTONIC when the thread's CPU clock is `cpu_ns`, which is
 * asked for where the clock may stand still. Any thread. */
static inline uint64_t wall_clock_stood(const struct trigger *t, uint64_t cpu_ns) {
    if (t->wall.off_only)
        return cpu_ns;
    return t->wall.gaps_ns + (t->wall.gap ? cpu_ns - t->wall.gap_ns : 0);
}

/* Now; never before the last check. */
uint64_t wall_clock_now(const struct trigger *t);

/* Until the next point when it is `now_ns`; 0: it is reached. */
uint64_t wall_clock_until_due(const struct trigger *t, uint64_t now_ns);

/* The weight of the points up to `limit_ns`, which are over then. */
uint64_t wall_clock_reach(struct agent_thread *thread, uint64_t limit_ns);

/* The timer expires after that time. */
void wall_clock_wait(struct agent_thread *thread, uint64_t ns);

/* The timer expires at the next point, or before it where the clock may stand still. Not in a gap.
 */
void wall_clock_aim(struct agent_thread *thread, uint64_t now_ns);

#endif
