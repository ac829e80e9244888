/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_parts.h - what the files of bursts of calls share: call_burst.c (beginnings and ends),
 * burst_wait.c (between them), burst_adapt.c (which are left out) and burst_account.c (what they
 * have seen). Private to these.
 */
#ifndef HCCT_CALLS_BURST_PARTS_H
#define HCCT_CALLS_BURST_PARTS_H

#include "preload/calls/call_burst.h"
#include "preload/sample/ticker.h"

static inline struct ticker *burst_fine(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

static inline struct ticker *burst_cpu(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* In the ring, of the words that the thread has written. */
static inline uint64_t call_burst_position(const struct calls *c) {
    return c->at != NULL ? (uint64_t)(c->at - c->zero) : c->head;
}

/* ---- burst_account.c: on the thread, or while it can't run ---- */

/* What the clock leaves out for each tick, beside its handler: a tick may have taken less. */
uint64_t call_burst_tick_takes(void);
/* CPU time that the program and its reports have used since the last account. A tick's own is not
 * of it: the clock stands still while one is served. */
uint64_t call_burst_used(const struct calls *c);
/* Of `used` CPU time of this part of the burst, what the program had itself. */
uint64_t call_burst_programs_ns(const struct calls *c, uint64_t used);
/* The thread's pace is taken from here on, to the beginning of the burst. */
void call_burst_take_pace(struct calls *c);
void call_burst_know_pace(struct calls *c);
/* A part of the burst begins: reports are priced from here on. */
void call_burst_price_from_here(struct calls *c);

/* ---- burst_wait.c: any context, our signal blocked ---- */

/* Texts that are in place for the next burst are not needed. */
void call_burst_cool(struct calls *c);
/* The timer is set to the burst of the next period. */
void call_burst_wait_for_next(struct agent_thread *thread);

/* ---- burst_adapt.c ---- */

/* The burst that is due is left out, and the next one waited for. Signal context, inside the
 * session. */
bool call_burst_is_left_out(struct agent_thread *thread, struct wire_session *session,
                            const ucontext_t *uc);
/* A burst is over: what bursts like it differ by. On the thread, or while it can't run. */
void call_burst_learn(struct calls *c);

#endif
