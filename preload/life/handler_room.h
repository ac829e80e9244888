/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_room.h - threads on whose stack there is no room for a signal of ours.
 *
 * The kernel puts a signal's frame on the alternate stack, where there is one, else on the stack in
 * use. As long as the alternate stack is ours (handler_stack.h) the thread's own may be of any
 * size. Where ours has given way, the thread's own stack must not be small; and an alternate stack
 * of the application must have room for a frame and for what the handler needs before it runs on
 * ours. Else the frame would be written over what lies below the stack, or the kernel would end the
 * process. So such a thread has no timers, and no signal of ours comes to it.
 *
 * It keeps its context. It is counted, and so is the CPU time that it uses, which is in no sample.
 */
#ifndef HCCT_HANDLER_ROOM_H
#define HCCT_HANDLER_ROOM_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/thread.h"

/* Learns how large a frame can be. Process context. */
void handler_room_start(void);

/* The calling thread begins, with the stacks that it has now, and has no timers yet. `from_ns`: of
 * its CPU time, nothing was sampled since. Thread context. */
void handler_room_begin(struct agent_thread *thread, uint64_t from_ns);
/* Its timers are gone: it ends. Thread context. */
void handler_room_end(struct agent_thread *thread);
/* In a child, for the only thread: what it has used is its parent's to count. Process context. */
void handler_room_begin_in_child(struct agent_thread *thread);

/* The calling thread is about to have this alternate stack, and has it now, or not. Thread context.
 */
void handler_room_before(struct agent_thread *thread, const stack_t *stack);
void handler_room_after(struct agent_thread *thread);

/* The rest of the function below. */
void handler_room_recheck(struct agent_thread *thread, const stack_t *stack);
/* After a tick: what the handler returns to, `uc`, may have no room for the next one. Signal
 * context. */
static inline void handler_room_at_tick(struct agent_thread *thread, const ucontext_t *uc) {
    if (hcct_unlikely(uc->uc_stack.ss_sp != thread->handler_stack))
        handler_room_recheck(thread, &uc->uc_stack);
}

/* What the threads without room that are there have used until now, before the process ends. Thread
 * context. */
void handler_room_leave(void);

#endif
