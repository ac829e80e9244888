/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * other_clock.h - CPU time where there is no fine timer: by the task clock event, where it is asked
 * for and allowed, else by the CPU timer's ticks.
 */
#ifndef HCCT_OTHER_CLOCK_H
#define HCCT_OTHER_CLOCK_H

#include <ucontext.h>

#include "preload/sample/sampling.h"

/* The plan wants the event, which was not refused to this thread. Any context. */
bool other_clock_wanted(const struct agent_thread *thread, const struct sampling_plan *plan);
/* Starts the CPU timer, whose first tick opens the event. Any context, on the thread or while it
 * can't run. */
void other_clock_begin(struct agent_thread *thread, const struct sampling_plan *plan);
/* A tick of the CPU timer. What a walk weighs is the CPU time since the last one. Signal context,
 * inside the session; `session` as in burst.h. */
void other_clock_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                          const struct sampling_plan *plan, const ucontext_t *uc);
/* A tick of the event. Signal context, inside the session. */
void other_clock_tick(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc);

#endif
