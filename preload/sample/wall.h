/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall.h - the wall clock: where a thread sleeps, beside where it computes.
 *
 * CPU time is sampled as ever. A monotonic timer looks for points of the rest: of the time that the
 * thread is off the processor, asleep or waiting for one. While nothing but one and the same sleep
 * is found the checks become rarer, so an idle thread is hardly woken. In calls whose interruption
 * would be seen our signal is blocked (SLEEP_FRAGILE in wrap/sleep.h), and they are credited when
 * they end.
 */
#ifndef HCCT_WALL_H
#define HCCT_WALL_H

#include <ucontext.h>

#include "preload/sample/sampling.h"

/* Starts the timer of the calling thread, whose time off the processor counts from now on, unless
 * it runs. `session`: NULL where there is none; one that is refused is counted there. Any context,
 * on the thread itself. */
void wall_begin(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan);
/* The same where the thread is not sampled: its timer only ticks, though it sleeps, each `ns` in
 * the mean. Any context, on the thread itself. */
void wall_ask(struct agent_thread *thread, uint64_t ns);
/* A tick of the wall timer. Signal context, inside the session. */
void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc);
/* A tick of the CPU timer: a walk with the unsent weight. `uc` is as before when it returns. Signal
 * context, inside the session. */
void wall_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, ucontext_t *uc);
/* The calling thread runs: where the checks of a sleep have become rare, that sleep is over, and is
 * credited. Thread context, or inside a handler of the application; keeps errno. */
void wall_awake(struct agent_thread *thread);
/* The weight of points that are reached and were not sampled: they are over then. On the thread.
 */
uint64_t wall_due(struct agent_thread *thread);
/* Gives the timer up. Any context. */
void wall_end(struct agent_thread *thread);

#endif
