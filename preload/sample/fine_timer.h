/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fine_timer.h - what looks for a thread's points of CPU time: a timer of real time or, where it is
 * asked for and allowed, the task clock event.
 */
#ifndef HCCT_FINE_TIMER_H
#define HCCT_FINE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/sampling.h"

/* The thread's is made, or opened, when there is none. `session` may be NULL. False: refused, which
 * is counted. Any context, inside the session; an event is opened on the thread itself only. */
bool fine_timer_get(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan);
/* It is set, to what comes next of the thread's CPU time. Any context. */
bool fine_timer_runs(const struct agent_thread *thread);
/* It is the event. Any context. */
static inline bool fine_timer_is_event(const struct agent_thread *thread) {
    return thread->trigger.task_clock.open;
}
/* The next tick: of a timer when CLOCK_MONOTONIC shows `at_ns`, and then each `period_ns`; of the
 * event after `rest_ns` of the thread's CPU time. Any context. */
void fine_timer_run(struct agent_thread *thread, uint64_t at_ns, uint64_t rest_ns,
                    uint64_t period_ns);
/* No more ticks. Any context. */
void fine_timer_halt(struct agent_thread *thread);
/* The application has closed the event's descriptor: it is forgotten, and a timer is to be had. Any
 * context. */
bool fine_timer_is_lost(struct agent_thread *thread);

#endif
