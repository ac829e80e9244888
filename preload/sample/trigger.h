/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trigger.h - when to sample.
 *
 *   TRIGGER_FINE   monotonic: looks for points of CPU time
 *   TRIGGER_CPU    CPU time: looks for a daemon, ends gaps, waits for points of idle threads
 *   TRIGGER_WALL   monotonic, HCCT_CLOCK=wall: looks for points of real time
 *
 * A CPU timer never fires in a sleeping thread, but the kernel serves it at its own tick: what a
 * program does right before or after ticks would be seen too often or not at all. So the fine timer
 * samples, at all rates; its signal is blocked in calls that can sleep (call_points.c).
 */
#ifndef HCCT_TRIGGER_H
#define HCCT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/life/thread.h"

/* Makes and starts the timer of the calling thread, whose CPU time is to be sampled from `since`
 * on; without one (RLIMIT_SIGPENDING) the thread is not profiled, which is counted. One without
 * room for a signal has none (handler_room.h). Thread or process context. */
void trigger_start(struct agent_thread *thread, uint64_t since);
/* The threads of a program that has just begun are sampled as its settings ask for, until it looks
 * for a session. Process context. */
void trigger_expect(void);
/* The threads of a child of fork begin as its parent's thread was sampled, until the child looks
 * for a session. In the child, before thread_forget_others. Process context. */
void trigger_inherit(const struct agent_thread *parent);
/* A thread whose hcctd has gone forks: looks for the next one, as children begin as their parent
 * was sampled, and who only waits for them has hardly a tick. Thread context, our signal blocked,
 * while the thread may make system calls. */
void trigger_attach_at_fork(struct agent_thread *thread);
/* Makes a timer for another thread, which is not sampled yet: at its first tick, after so much CPU
 * time, it follows the plan, and is from then on. False: there is no timer to be had. Any context.
 */
bool trigger_adopt(struct agent_thread *thread, uint64_t after_ns);
/* The calling thread, for which somebody has called trigger_adopt, is sampled from now on; false:
 * there is no session, and it is as it was. All signals are blocked. */
bool trigger_begin_met(struct agent_thread *thread);
/* Thread context, or any thread when no other can use it. */
void trigger_stop(struct agent_thread *thread);
/* The same of another thread that may be asleep, where a signal of its timers may wake it just now:
 * kernels from 6.13 on take such a signal back with its timer, and nobody would make the call again
 * that it has interrupted. So the thread has one more signal, by its CPU timer, which stays for
 * that (trigger_free). While it is not inside. */
void trigger_stop_asleep(struct agent_thread *thread);
/* All timers that are left. On the thread, or while it can't use them. */
void trigger_free(struct agent_thread *thread);
/* One tick of the CPU timer now, also where the thread sleeps. After trigger_adopt. */
void trigger_poke(struct agent_thread *thread);
/* One more in so many ns, by a clock of real time, until trigger_poke_no_more. False: there is no
 * timer to be had. On the thread, before it is sampled. */
bool trigger_poke_later(struct agent_thread *thread, uint64_t ns);
void trigger_poke_no_more(struct agent_thread *thread);
/* After trigger_adopt: the first tick was too early, the kernel's next one may be right. Signal
 * context, on the thread. */
void trigger_put_off(struct agent_thread *thread);
/* The calling thread has no timers from now on, and begins no more by itself: trigger_start. Any
 * context. */
void trigger_leave(struct agent_thread *thread);
/* Anew after trigger_stop, for a thread that still runs. Any thread. */
void trigger_resume(struct agent_thread *thread);
/* The timers raise another signal from now on. Any thread. */
void trigger_move(struct agent_thread *thread, int signal);

/* Whose ticker this is, most likely `likely`'s; NULL: nobody's. Any context. */
struct agent_thread *trigger_owner(struct agent_thread *likely, const void *ticker,
                                   enum trigger_kind *kind);

/* One signal of the calling thread's timer, `expiries` periods after the last one. Signal context.
 */
void trigger_tick(struct agent_thread *thread, enum trigger_kind kind, uint64_t expiries,
                  ucontext_t *uc);

#endif
