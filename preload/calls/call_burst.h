/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_burst.h - calls that are followed in bursts.
 *
 * A burst is a length of the program's own CPU time: what its reports take is not of it. It begins
 * at a random place of its period (period.h), whatever the thread is doing then, and goes on when
 * the thread has slept. A timer on real time ends it; calls that can sleep are made with its
 * signal blocked meanwhile. Where it begins within such a call, or when the thread has slept, the
 * timer waits for the next report.
 *
 * (D'Elia et al. 2015, section 6; Arnold and Ryder, PLDI 2001.)
 */
#ifndef HCCT_CALLS_CALL_BURST_H
#define HCCT_CALLS_CALL_BURST_H

#include <stdbool.h>
#include <ucontext.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"

/* ---- call_burst.c ---- */

static inline bool call_burst_is_meant(void) {
    return agent.settings.burst_length_ns != 0;
}

/* Which reports are measured (price.h); where each is checked none goes the usual way. */
static inline uintptr_t price_mask(bool in_burst) {
    return agent.settings.check ? 0
           : in_burst           ? (PRICE_ONE_IN - 1) * sizeof(uint64_t)
                                : PRICE_NO_MASK;
}

/* A program begins with one, so that its outermost calls are learned (calls/known.c). Thread
 * context, our signal blocked. */
void call_burst_first(struct agent_thread *thread);
/* One begins here. Signal context, inside the session. */
void call_burst_begin(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc);
/* A tick of the timer that ends bursts. Signal context, inside the session. */
void call_burst_tick(struct agent_thread *thread);
/* A report finds that the timer does not run. False: the burst was over before, so the call is not
 * of it. Thread context, inside a report. */
bool call_burst_go_on(struct calls *c);

/* ---- burst_wait.c ---- */

/* The calling thread is in no burst: its timer waits for one from now on. Any context, our signal
 * blocked, after the thread has got its timer. */
void call_burst_expect(struct agent_thread *thread);
/* No more: the daemon has gone. On the thread, its signal blocked. */
void call_burst_forget(struct agent_thread *thread);
/* A tick outside of bursts: whether one is to begin. If not, a timer waits for it. Signal
 * context. */
bool call_burst_is_due(struct agent_thread *thread);
/* One was due, and has not begun: it is tried again before long. Signal context. */
void call_burst_put_off(struct agent_thread *thread);

/* ---- burst_account.c ---- */

/* Learns what reports take. Process context, after redirect_start. */
void call_burst_start(void);
/* What the calling thread does is counted from here on. */
void call_burst_starts(struct agent_thread *thread);
/* What the thread did since its last burst began or ended is counted. On the thread, or while it
 * can't run. */
void call_burst_account(struct agent_thread *thread);
/* The thread ends, and has reported nothing of what it did: others will. */
void call_burst_leave_untold(struct calls *c);

/* Work of a tick that is done once, not for each burst, began when the thread had used so much CPU
 * time (call_burst_cost_begin), and is over: it is no part of a burst's price. On the thread. */
uint64_t call_burst_cost_begin(void);
void call_burst_cost_once(struct agent_thread *thread, uint64_t began_ns);

/* ---- start.c ---- */

/* Calls are followed from here on, where there are bursts as well: in thread context with our
 * signal blocked; from the tick that has met `uc`, inside the session. The latter is false if they
 * are not. */
void calls_follow_here(struct agent_thread *thread);
bool calls_begin_here(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc);

#endif
