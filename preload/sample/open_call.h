/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open_call.h - the timers and calls that are made with our signal open (wrap/sleep_open.h).
 *
 * A tick that meets such a call asleep, before its point, would meet it time and again. The
 * thread's CPU timer waits for the point then, which does not run while it sleeps, and the end of
 * the call sets the fine timer anew. Functions whose last calls were long are not open, nor those
 * of which a tick has met one asleep just now (calm.h).
 *
 * Both ends of a call are in open_call.c, too: open_call_begin, open_call_end.
 */
#ifndef HCCT_OPEN_CALL_H
#define HCCT_OPEN_CALL_H

#include <ucontext.h>

struct announced_call;

/* A tick has met it, and restart_interrupted has not made it again: whether it was cut short
 * by us. Signal context. */
void open_call_met(struct announced_call *open, const ucontext_t *uc);

#endif
