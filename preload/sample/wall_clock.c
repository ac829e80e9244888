/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_clock.c - a timer that is set to a moment of CLOCK_MONOTONIC is not late by what a walk has
 * taken. Where the clock stands still it is set to what is left to the next point: it comes too
 * early where the thread has computed meanwhile, never too late.
 */
#include "preload/sample/wall_clock.h"

#include "preload/sample/draw.h"
#include "preload/sample/wall.h"

#define POINTS_MAX 64 /* that are found at one check and drawn one by one */

/* Where the clock may stand still, what passes between the two readings, if the thread has to wait
 * there, counts. */
uint64_t wall_clock_now(const struct trigger *t) {
    uint64_t cpu = t->wall.off_only || t->wall.gap ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    uint64_t time = ticker_now(CLOCK_MONOTONIC), stood = wall_clock_stood(t, cpu);
    return time > stood && time - stood > t->wall.checked_ns ? time - stood : t->wall.checked_ns;
}

uint64_t wall_clock_until_due(const struct trigger *t, uint64_t now_ns) {
    return t->wall.due_ns > now_ns ? t->wall.due_ns - now_ns : 0;
}

uint64_t wall_clock_reach(struct agent_thread *thread, uint64_t limit_ns) {
    struct trigger *t = &thread->trigger;
    uint64_t sum = 0, far = POINTS_MAX * t->wall.steps.mean_ns;
    if (limit_ns > t->wall.due_ns + far) {
        sum = limit_ns - t->wall.due_ns - far;
        t->wall.due_ns += sum;
    }
    while (t->wall.due_ns <= limit_ns) {
        sum += t->wall.steps.step_ns;
        t->wall.due_ns += interval_next(&t->wall.steps, 1, draw_word(&thread->random));
    }
    return sum;
}

static void expire_at(struct agent_thread *thread, uint64_t time_ns) {
    struct trigger *t = &thread->trigger;
    t->wall.expires_ns = time_ns;
    ticker_run_at(wall_ticker(thread), time_ns, t->wall.steps.mean_ns);
}

void wall_clock_wait(struct agent_thread *thread, uint64_t ns) {
    expire_at(thread, ticker_now(CLOCK_MONOTONIC) + ns);
}

void wall_clock_aim(struct agent_thread *thread, uint64_t now_ns) {
    const struct trigger *t = &thread->trigger;
    if (t->wall.off_only)
        wall_clock_wait(thread, wall_clock_until_due(t, now_ns));
    else
        expire_at(thread, t->wall.due_ns + t->wall.gaps_ns);
}

void wall_check_by(struct agent_thread *thread, uint64_t time_ns) {
    if (wall_ticker(thread)->period_ns != 0 && time_ns < thread->trigger.wall.expires_ns)
        expire_at(thread, time_ns);
}
