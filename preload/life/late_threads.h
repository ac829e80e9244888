/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_threads.h - threads whose beginning the agent has not seen (late.h).
 *
 * A context that was made for a thread is that thread's until it ends, also while nobody is
 * attached: the thread knows it, and its wrappers use it.
 */
#ifndef HCCT_LATE_THREADS_H
#define HCCT_LATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#include "common/wire/attach.h"
#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* Threads that are named by who attaches. Who blocks our signal would have it pending, where it can
 * be seen. While no other thread is inside (confine_hold). */
void late_threads_add(struct wire_attach *request, uint32_t fates[WIRE_ATTACH_FATES]);
/* Those that sleep already are woken, where they are to be and can be (late_wake.h). No signal
 * comes to the calling thread. */
void late_threads_wake(struct wire_attach *request);
/* The same of those that the request names. False: another thread asks for them just now. */
bool late_threads_wake_named(const struct wire_attach *request);
/* The context of a thread, NULL: it has none. Any context. */
struct agent_thread *late_threads_find(pid_t tid);

/* The calling thread is `owner`, whose timer has raised its signal here. NULL: it is not, or it is
 * about to make a call that must not be interrupted, and that it has begun before the agent came.
 * Signal context. */
struct agent_thread *late_threads_adopt(struct agent_thread *owner, const ucontext_t *uc);
/* sleep_burst of a thread that is not known, or no more: it is met at its next call that can sleep.
 */
#define LATE_UNMET (SLEEP_FRAGILE | SLEEP_NEXT)

/* The calling thread is about to make such a call: its context from now on; NULL: it has none.
 * Thread context. */
struct agent_thread *late_threads_meet(void);
/* The calling thread has an event that is to be sampled: the same, but its context has no timer
 * where the thread blocks our signal. Thread context, or inside a handler of the application. */
struct agent_thread *late_threads_meet_at_event(void);
/* The calling thread has had its last tick. Signal context. */
void late_threads_last_tick(struct agent_thread *thread);

/* At the end of a tick. Signal context, inside (confine.h). */
void late_threads_after_tick(struct agent_thread *thread);

/* At a tick: where the number of threads has changed, and now and then, looks who has come or gone.
 * Keeps a descriptor for the time of that. Signal context, inside (confine.h). */
void late_threads_search(void);

/* What was not sampled of threads that were found, and not met, is reported to the session. While
 * no other thread is inside (confine_hold). */
void late_threads_count(void);
/* No thread is sampled any more. The same. */
void late_threads_leave(void);
/* After it: each has had its last tick, or has ended. The same. */
bool late_threads_have_left(void);
/* In a child of a process that was attached to: its threads and timers are not there. */
void late_threads_forget(void);

#endif
