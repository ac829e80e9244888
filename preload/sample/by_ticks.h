/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * by_ticks.h - CPU time where there is no fine timer (RLIMIT_SIGPENDING): by the CPU timer's ticks.
 */
#ifndef HCCT_BY_TICKS_H
#define HCCT_BY_TICKS_H

#include <ucontext.h>

#include "preload/sample/sampling.h"

/* Starts the CPU timer. Any context, on the thread or while it can't run. */
void by_ticks_begin(struct agent_thread *thread, const struct sampling_plan *plan);
/* A tick of the CPU timer. What a walk weighs is the CPU time since the last one. Signal context,
 * inside the session; `session` as in burst.h. */
void by_ticks_tick(struct agent_thread *thread, struct wire_session *session, const ucontext_t *uc);

#endif
