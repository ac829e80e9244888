/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_stack.h - the stack that our handler runs on.
 *
 * A signal's frame takes 3 to 12 KB of the stack that it is put on. That may be a coroutine's,
 * which is no larger, or a thread's own of which all but the last bytes are used. So each thread
 * has an alternate stack of ours, as long as the application has none.
 *
 * The application must not find out. It sees none, and its handlers that ask for one (SA_ONSTACK)
 * run where they would without us: the flag is kept from the kernel (handler_masks.h). From the
 * moment on that the application sets an alternate stack in any thread, or confines itself, the
 * flag means something: then ours is taken from each thread, at its next tick, and threads begin
 * without.
 *
 * Ours is one that the kernel takes away while a handler runs, and gives back at its end
 * (SS_AUTODISARM, Linux 4.7; before, there is none): else it could not be taken from a thread by
 * what its handler returns to. A thread that leaves a handler by a jump gets it back at a tick.
 *
 * A runtime that asks for its stack by a system call (Go's) finds ours, takes it for one of the
 * program's and relies on it. Where such a runtime sets handlers that ask for a stack they get it,
 * threads begin without ours, and those that have it keep it until they end.
 */
#ifndef HCCT_HANDLER_STACK_H
#define HCCT_HANDLER_STACK_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "common/wire/compiler.h"
#include "preload/life/thread.h"

/* The application has alternate stacks, or may have: ours goes. Read by all, set once. */
extern _Atomic bool handler_stack_gone __attribute__((visibility("hidden")));

/* The calling thread has ours from now on, unless there is another one. False: it has not. Thread
 * context. */
bool handler_stack_begin(const struct agent_thread *thread);
/* Whether it has ours. Thread context. */
bool handler_stack_is_there(const struct agent_thread *thread);
/* It has ours no more: its context goes to another thread. Thread context. */
void handler_stack_end(const struct agent_thread *thread);

/* Ours goes from all threads; `relied_on`: somebody may have found it, so that it stays where it
 * is. Any context. */
void handler_stack_give_way(bool relied_on);
bool handler_stack_is_relied_on(void);

/* The rest of the function below. */
void handler_stack_change(const struct agent_thread *thread, ucontext_t *uc);
/* The stack that the thread is to have after the handler that has interrupted `uc`. Signal context.
 */
static inline void handler_stack_at_tick(const struct agent_thread *thread, ucontext_t *uc) {
    bool gone = atomic_load_explicit(&handler_stack_gone, memory_order_relaxed);
    if (hcct_unlikely(gone == (uc->uc_stack.ss_sp == thread->handler_stack)))
        handler_stack_change(thread, uc);
}

/* Changes `old`, which the kernel gave for the calling thread, to what the application is to see.
 * Any context. */
void handler_stack_hide(const struct agent_thread *thread, stack_t *old);

/* Calls function(thread, argument): on our stack where the one that the calling thread is on may be
 * small, or nearly used up, else where it is. All signals are blocked. */
void handler_stack_call(struct agent_thread *thread,
                        void (*function)(struct agent_thread *, const void *),
                        const void *argument);

/* Calls a function on the stack whose end is `top`; the caller's is used again when it returns. One
 * file for each architecture has it, in assembly. */
void handler_stack_switch(struct agent_thread *thread, const void *argument,
                          void (*function)(struct agent_thread *, const void *), void *top)
    __attribute__((visibility("hidden")));

#endif
