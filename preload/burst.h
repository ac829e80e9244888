/*
 * burst.h - closely spaced walks, driven by a monotonic timer while the thread runs.
 *
 * Arnold and Ryder's bursts of samples (PLDI 2001), as in D'Elia, Demetrescu and Finocchi (2015),
 * section 6, for walks. A burst ends when it is as long as it was planned, or when the thread
 * leaves the CPU: before a call that can sleep (wrap_sleep.h), and otherwise at the first tick that
 * finds it in a system call. So at most one tick of a burst meets a sleeping thread.
 */
#ifndef HCCT_BURST_H
#define HCCT_BURST_H

#include <ucontext.h>

#include "preload/sampling.h"

/* The first walk of a burst, at a CPU tick; starts the fine timer. Signal context, inside the
 * session. */
void burst_begin(struct agent_thread *thread, struct wire_session *session,
                 const struct sampling_plan *plan, const ucontext_t *uc);
/* A tick of the fine timer; may change `uc` so that a system call is made again. Signal context,
 * inside the session. */
void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the task clock event, which takes the fine timer's place where it is asked for and
 * allowed. Signal context, inside the session. */
void burst_task_clock_tick(struct agent_thread *thread, struct wire_session *session,
                           const ucontext_t *uc);
/* The thread's fine timer, made when there is none; false: refused, which is counted. Signal
 * context, inside the session. */
bool burst_get_timer(struct agent_thread *thread, struct wire_session *session);
/* The walk that was just made shows the thread on its way into a call that can sleep. Signal
 * context. */
bool burst_about_to_sleep(const struct agent_thread *thread);
/* Stops the fine timer. Any context, on the thread or while it can't run. */
void burst_end(struct agent_thread *thread);

#endif
