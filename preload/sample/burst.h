/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst.h - closely spaced walks, driven by a monotonic timer while the thread runs.
 *
 * Arnold and Ryder's bursts of samples (PLDI 2001), as in D'Elia, Demetrescu and Finocchi (2015),
 * section 6, for walks; and sampling without bursts, which is one that has no end. Bursts begin and
 * points are reached whatever the thread is doing: so what a program calls has no say in what is
 * seen of it.
 */
#ifndef HCCT_BURST_H
#define HCCT_BURST_H

#include <ucontext.h>

#include "preload/sample/sampling.h"
#include "preload/wrap/sleep.h"

/* `session` is NULL below where the process has none yet: the first sample looks for it.
 *
 * The timers follow the plan, which has a fine timer, from `since` of the thread's CPU time on
 * (UINT64_MAX: from now on); another thread begins with its next CPU tick. Any context, inside the
 * session. */
void burst_plan(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since);
/* A tick of the CPU timer: a gap ends, a point was waited for, or each tick is a sample
 * (tick_course.h); `uc` is as before when it returns. Signal context, inside the session. */
void burst_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the fine timer; `uc` is as before when it returns. Signal context, inside the session.
 */
void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t expiries, ucontext_t *uc);
/* A point was reached whose tick is still on its way, or will be `within` ns of CPU time. On the
 * thread, any context. */
bool burst_is_due(struct agent_thread *thread, uint64_t within);
/* Takes its sample, without the tick; `uc` is as before when it returns. On the thread, all signals
 * blocked, inside the session. */
void burst_catch(struct agent_thread *thread, struct wire_session *session, ucontext_t *uc);
/* A tick is to come at `time_ns` (CLOCK_MONOTONIC), where the timer does not look for points by
 * itself. Signal context. */
void burst_check_by(struct agent_thread *thread, uint64_t time_ns);
/* Stops the timers. Any context, on the thread or while it can't run. */
void burst_end(struct agent_thread *thread);
/* The same, where the timers are about to be freed. */
void burst_leave(struct agent_thread *thread);

#endif
