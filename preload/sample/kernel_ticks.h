/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kernel_ticks.h - a thread that is sampled at the kernel's ticks, in place of points: it sleeps in
 * calls that are not wrapped (tick_course.h).
 */
#ifndef HCCT_KERNEL_TICKS_H
#define HCCT_KERNEL_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/sample/burst_inner.h"

/* On the thread, our signal blocked, but where it says otherwise.
 *
 * From here on each tick of the kernel that meets the thread is a sample. */
void kernel_ticks_begin(struct agent_thread *thread, struct moment now);
/* It is so no more; its timers are the caller's. On the thread, or while it can't run. */
void kernel_ticks_end(struct agent_thread *thread);
/* A tick of the kernel. `uc` is as before when it returns. Inside the session. */
void kernel_ticks_met(struct agent_thread *thread, struct wire_session *session,
                      const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the fine timer: whether the kernel's ticks meet the thread, and whether that is over.
 */
void kernel_ticks_check(struct agent_thread *thread, const struct sampling_plan *plan,
                        const ucontext_t *uc);
/* A call that can sleep begins, with our signal blocked: a tick that comes in it waits for its end.
 * Any context. */
void kernel_ticks_call_begins(struct agent_thread *thread);

#endif
