/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kernel_ticks.h - a thread that is sampled at the kernel's ticks, and in the stretches between its
 * naps that have a point: one whose sleeps are not known of, or are so many that points of its CPU
 * clock would cost a timer each (tick_course.h, nap_course.h).
 */
#ifndef HCCT_KERNEL_TICKS_H
#define HCCT_KERNEL_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/sample/burst_inner.h"

/* On the thread, our signal blocked, but where it says otherwise.
 *
 * It is so from here on, in place of points. */
void kernel_ticks_begin(struct agent_thread *thread, const struct sampling_plan *plan,
                        struct moment now);
/* The thread's stretches can have points: it is the calling one, and points are closer than ticks.
 * Any context. */
bool kernel_ticks_have_points(const struct agent_thread *thread);
/* It is so no more; its timers are the caller's. On the thread, or while it can't run. */
void kernel_ticks_end(struct agent_thread *thread);
/* A tick of the kernel. `uc` is as before when it returns. Inside the session. */
void kernel_ticks_met(struct agent_thread *thread, struct wire_session *session,
                      const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the fine timer: a stretch's point, or time to look whether that is over. The same. */
void kernel_ticks_fine(struct agent_thread *thread, struct wire_session *session,
                       const struct sampling_plan *plan, ucontext_t *uc);

/* A point of this stretch was reached whose tick is on its way, or will be within so much CPU time.
 * Any context. */
bool kernel_ticks_due(const struct agent_thread *thread, uint64_t within);
/* Takes its sample. Inside the session. */
void kernel_ticks_catch(struct agent_thread *thread, struct wire_session *session, ucontext_t *uc);

/* A call of the function `which` (sleep_number) that can sleep begins at `time`, with our signal
 * blocked (`masked`) or open, and ends. `slept`: it was a nap. The signal is as in the call. */
void kernel_ticks_call_begins(struct agent_thread *thread, size_t which,
                              const struct sleep_place *place, uint64_t time, bool masked);
void kernel_ticks_call_ends(struct agent_thread *thread, size_t which,
                            const struct sleep_place *place, uint64_t time, bool slept);

#endif
