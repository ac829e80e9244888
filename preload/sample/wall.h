/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall.h - the wall clock: where a thread sleeps, beside where it computes.
 *
 * A monotonic timer looks for points of real time, whether the thread computes, sleeps or waits for
 * a processor; or only for those of the time that it is off the processor. While nothing but one
 * and the same sleep is found the checks become rarer, so an idle thread is hardly woken. In calls
 * whose interruption would be seen our signal is blocked (SLEEP_FRAGILE in wrap/sleep.h), and they
 * are credited when they end.
 */
#ifndef HCCT_WALL_H
#define HCCT_WALL_H

#include <ucontext.h>

#include "preload/sample/sampling.h"

/* Starts the timer of the calling thread, whose time counts from now on, and CPU time from `since`
 * on (UINT64_MAX: from now on), unless it runs. `session`: NULL where there is none; one that is
 * refused is counted there. True: wall_has_all, and the CPU timer does not run. Any context, on the
 * thread itself. */
bool wall_begin(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since);
/* The same where the thread is not sampled: its timer only ticks, though it sleeps, each `ns` in
 * the mean. Any context, on the thread itself. */
void wall_ask(struct agent_thread *thread, uint64_t ns);
/* The wall timer looks for all of the thread's time: the CPU timer's ticks have no weight of their
 * own. Any context. */
static inline bool wall_has_all(const struct agent_thread *thread) {
    const struct trigger *t = &thread->trigger;
    return t->plan.wall_ns != 0 && t->ticker[TRIGGER_WALL].made && !t->wall.off_only;
}
/* The next tick is to come at that moment of CLOCK_MONOTONIC, if it would come later. The thread
 * itself, any context. */
void wall_check_by(struct agent_thread *thread, uint64_t time_ns);
/* A tick of the wall timer. Signal context, inside the session. */
void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the CPU timer: a walk with the unsent weight, and what ends a gap. `uc` is as before
 * when it returns. Signal context, inside the session. */
void wall_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, ucontext_t *uc);
/* The weight of points that are reached and were not sampled: they are over then. On the thread.
 */
uint64_t wall_due(struct agent_thread *thread);
/* The same of a thread that a tick has met where it computes; 0: it has met a sleep, whose points
 * can wait. Signal context. */
uint64_t wall_lose(struct agent_thread *thread, const ucontext_t *uc);
/* Gives the timer up. Any context. */
void wall_end(struct agent_thread *thread);

#endif
