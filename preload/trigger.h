/*
 * trigger.h - when to look: a timer for each thread on its own CPU time.
 *
 * Such a timer never fires in a sleeping thread, so no system call of the application is ever
 * interrupted; the kernel serves it at its tick, so that more than HZ expiries a second come as
 * overruns of fewer signals.
 */
#ifndef HCCT_TRIGGER_H
#define HCCT_TRIGGER_H

#include <stdint.h>
#include <ucontext.h>

#include "preload/thread.h"

/* Makes and starts the timer of the calling thread; without one (RLIMIT_SIGPENDING) the thread is
 * not profiled, which is counted. Thread or process context. */
void trigger_start(struct agent_thread *thread);
/* Thread context, or any thread when no other can use it. */
void trigger_stop(struct agent_thread *thread);
/* The timer raises another signal from now on. Any thread. */
void trigger_move(struct agent_thread *thread, int signal);

/* One signal of the calling thread's timer, `expiries` periods of CPU time after the last one.
 * Signal context. */
void trigger_tick(struct agent_thread *thread, uint64_t expiries, const ucontext_t *uc);

#endif
