/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open_call.h - the fine timer and calls that are made with our signal open (wrap/sleep_open.h).
 *
 * A tick that meets such a call asleep, before its point, would meet it time and again. The
 * thread's CPU timer waits for the point then, which does not run while it sleeps, and the end of
 * the call sets the fine timer anew. Functions whose last calls were long are not open, nor those
 * of which a tick has met one asleep just now.
 */
#ifndef HCCT_OPEN_CALL_H
#define HCCT_OPEN_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/life/thread.h"

struct sleep_call;

/* A call of function number `which` begins: may it be open? Thread context, or inside a handler of
 * the application. */
bool open_call_begin(struct sleep_call *call, size_t which);
/* It has ended. The same; keeps errno. */
void open_call_end(struct sleep_call *call, size_t which);
/* A call of that function that was made with our signal blocked has ended after so long. */
void open_call_learn(struct agent_thread *thread, size_t which, uint64_t ns);

/* A tick has met `call` asleep. Signal context, on the thread. */
void open_call_sleeps(struct agent_thread *thread, const struct sleep_call *call);
/* A tick has met `call`, and restart_interrupted has not made it again: whether it was cut short by
 * us. Signal context. */
void open_call_met(struct sleep_call *call, const ucontext_t *uc);

#endif
