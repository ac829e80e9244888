/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_inner.h - what burst.c, which looks for points, has for the files that share its timers:
 * kernel_ticks.c (threads that are sampled at the kernel's ticks)
 * and call_points.c (both ends of calls that can sleep).
 *
 * On the thread, our signal blocked, or where it says otherwise.
 */
#ifndef HCCT_BURST_INNER_H
#define HCCT_BURST_INNER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* A call that has taken so long has slept, or is long enough to pay. */
#define CALL_SLEPT_NS 20000
#define CALL_END_NS   4000 /* so long after a sleep no tick can come: half is the call's own end */

/* The thread's CPU time, and when it was read. */
struct moment {
    uint64_t cpu_ns, time_ns;
};

/* The calling thread's, now. Any context. */
struct moment burst_now(void);

/* Now, of a thread that has run from `then` on: a walk takes longer than many a call. */
struct moment burst_passed_since(struct moment then);

/* A timer waits for the next point, or the thread naps. Any context. */
bool burst_runs(struct agent_thread *thread);
/* From here on points are looked for. */
void burst_watch(struct agent_thread *thread, const struct sampling_plan *plan, struct moment now,
                 uint64_t least);
/* The timer, to what is next, but not before `least` of real time. The thread has run from `then`
 * on. */
void burst_aim(struct agent_thread *thread, const struct sampling_plan *plan, struct moment then,
               uint64_t least);
/* The CPU timer does not wait any more. */
void burst_leave_cpu_timer(struct agent_thread *thread);
/* A sample of that weight is of the context that the tick has met, or of a call at whose end it
 * comes. */
void burst_weigh(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                 const struct sleep_call *call, ucontext_t *uc);
#endif
