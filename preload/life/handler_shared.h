/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_shared.h - one alternate stack of the application's that several of its threads have.
 *
 * A program may give all of its threads the same, for a handler after which it ends (varnishd
 * does): no two of them are ever on it. Our signal comes to several threads at a time, whose frames
 * would be written over each other. So from the moment on that a second thread comes with the stack
 * of another one, our handler asks for no alternate stack any more, in the whole process, and is
 * put on the stack that a thread is on, which needs the room for it (handler_room.h).
 *
 * Nothing changes for handlers of the application's.
 */
#ifndef HCCT_HANDLER_SHARED_H
#define HCCT_HANDLER_SHARED_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "preload/life/thread.h"

/* It is so. For good; a child of fork inherits it. */
extern _Atomic bool handler_shared __attribute__((visibility("hidden")));

/* The calling thread is about to have this alternate stack. Thread context. */
void handler_shared_before(struct agent_thread *thread, const stack_t *stack);
/* It was found to have it. Signal context. */
void handler_shared_at_tick(struct agent_thread *thread, const stack_t *stack);

#endif
