/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_timer.h - a timer that raises our signal in one thread.
 */
#ifndef HCCT_THREAD_TIMER_H
#define HCCT_THREAD_TIMER_H

#include <stdbool.h>
#include <time.h>

#include "preload/life/thread.h"

/* Those of real time and of CPU time that look for points (trigger.h). Any context. */
static inline struct ticker *thread_fine_timer(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

static inline struct ticker *thread_cpu_timer(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* Makes a timer of the thread's, on `clock`, that raises our signal. False: there is none to be
 * had, or no signal. Any context, on the thread or while it can't run. */
bool thread_timer_make(struct agent_thread *thread, enum trigger_kind kind, clockid_t clock);

/* The thread's timer of real time of that kind, made where there is none. A thread that was refused
 * one is not asked for again, and counted in `session`, where that is not NULL. False: refused.
 * Any context, on the thread or while it can't run. */
bool thread_timer_get(struct agent_thread *thread, enum trigger_kind kind,
                      struct wire_session *session);

#endif
