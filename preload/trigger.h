/*
 * trigger.h - when to look.
 *
 *   TRIGGER_CPU    thread CPU time. Always; slowly while there is no daemon. A walk weighs
 *                  expiries x period, or with finer triggers the CPU time since the last one.
 *   TRIGGER_FINE   monotonic. During a burst, which TRIGGER_CPU begins. A walk weighs its step.
 *   TRIGGER_WALL   monotonic. HCCT_CLOCK=wall; slower while asleep. Time off the processor.
 *   TRIGGER_TASK   task clock event. HCCT_CLOCK=perf, instead of TRIGGER_FINE. CPU time since the
 *                  last.
 *
 * A CPU timer never fires in a sleeping thread, but the kernel serves it at its own tick. So
 * uniform sampling at rates up to the kernel's is TRIGGER_CPU alone. Higher rates, and bursts that
 * the user asks for (HCCT_BURST), need the fine timer: it begins at a CPU tick, so in a thread that
 * runs, and ends with the burst; its signal is blocked in calls that can sleep (burst.c).
 */
#ifndef HCCT_TRIGGER_H
#define HCCT_TRIGGER_H

#include <stdint.h>
#include <ucontext.h>

#include "preload/thread.h"

/* Makes and starts the timer of the calling thread, whose CPU time is to be sampled from `since`
 * on; without one (RLIMIT_SIGPENDING) the thread is not profiled, which is counted. Thread or
 * process context. */
void trigger_start(struct agent_thread *thread, uint64_t since);
/* The threads of a child of fork begin as its parent's thread was sampled, until the child looks
 * for a session. In the child, before trigger_forget. Process context. */
void trigger_inherit(const struct agent_thread *parent);
/* Thread context, or any thread when no other can use it. */
void trigger_stop(struct agent_thread *thread);
/* In a child of fork: timers are not inherited. */
void trigger_forget(struct agent_thread *thread);
/* The timers raise another signal from now on. Any thread. */
void trigger_move(struct agent_thread *thread, int signal);

/* True when descriptor `fd` is the thread's task clock event. Any context. */
static inline bool trigger_is_task_clock(const struct agent_thread *thread, int fd) {
    return thread->trigger.task_clock.open && thread->trigger.task_clock.fd == fd;
}

/* Whose ticker this is, most likely `likely`'s; NULL: nobody's. Any context. */
struct agent_thread *trigger_owner(struct agent_thread *likely, const void *ticker,
                                   enum trigger_kind *kind);

/* One signal of the calling thread's timer, `expiries` periods after the last one. Signal context.
 */
void trigger_tick(struct agent_thread *thread, enum trigger_kind kind, uint64_t expiries,
                  ucontext_t *uc);

#endif
