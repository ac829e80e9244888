/*
 * wall.h - the wall clock: where a thread sleeps, beside where it computes.
 *
 * CPU time is sampled as ever. A monotonic timer looks at the rest: what passed between two of its
 * ticks and was not CPU time was spent asleep or waiting for a processor, and belongs to the
 * context in which a tick finds the thread asleep or waiting. While nothing but sleep is found the
 * ticks become rarer, so an idle thread is hardly woken; its first CPU tick brings them back.
 */
#ifndef HCCT_WALL_H
#define HCCT_WALL_H

#include <ucontext.h>

#include "preload/sampling.h"

/* The thread runs: a sleep that was looked at is over. On the thread itself, inside the session, as
 * the next. */
void wall_running(struct agent_thread *thread, const struct sampling_plan *plan);
/* Starts the timer, or makes it quick again. Not where the thread has announced a sleep
 * (wrap_sleep.h) and goes to it now. */
void wall_begin(struct agent_thread *thread, const struct sampling_plan *plan);
/* A tick of the wall timer; may change `uc` so that a system call is made again. Signal context,
 * inside the session. */
void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc);
/* Stops the timer. Any context. */
void wall_end(struct agent_thread *thread);
/* The same, and time from here on counts for nothing until wall_running() begins anew. Any context.
 */
void wall_forget(struct agent_thread *thread);

#endif
