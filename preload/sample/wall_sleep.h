/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_sleep.h - sleeps that have lasted for so long that the next check of them is put off: which
 * points were in them once they are over.
 *
 * Such a sleep may be in a watched call (wrap/sleep.h), whose end is heard. Else nobody hears it:
 * then the clock of the points stands still while the thread runs, from the check on until its end
 * is known. That is a gap. On the thread itself, inside the session unless it is said otherwise.
 */
#ifndef HCCT_WALL_SLEEP_H
#define HCCT_WALL_SLEEP_H

#include "preload/life/thread.h"

/* How often the calling thread has left the processor to sleep, by the kernel's count. */
uint64_t wall_sleeps(void);

/* A check that has met, and sampled, the sleep of the context that thread->memo has. It may be in a
 * watched call. */
void wall_sleep_met(struct agent_thread *thread);

/* The check of the sleep that the last one has met is to be put off for longer than until the next
 * point. */
bool wall_sleep_is_long(const struct trigger *t, uint64_t now_ns);
/* It is. */
void wall_sleep_put_off(struct agent_thread *thread, uint64_t now_ns);

/* A check has met the thread in that sleep still, it being the same one; what it has computed was
 * for the check. */
void wall_sleep_lasts(struct agent_thread *thread);
/* A check, or a tick of the kernel that ends a gap, has met it elsewhere. `in_call`: asleep, or at
 * the end of a sleep. The points that were in that sleep are credited to it. Returns what such a
 * tick weighs. */
uint64_t wall_sleep_is_over(struct agent_thread *thread, bool in_call);

/* The calling thread runs: where the checks of a sleep have become rare, that sleep is over, and is
 * credited. Thread context, or inside a handler of the application; outside the session; keeps
 * errno. */
void wall_awake(struct agent_thread *thread);
/* The same at the end of that watched call, which may have been the sleep. */
void wall_over(struct agent_thread *thread, uintptr_t call);

#endif
