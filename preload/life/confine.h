/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confine.h - a thread or a process that forbids itself system calls (seccomp).
 *
 * Such a filter may kill for any call that the program itself does not make, so the agent makes
 * none from then on: no timer is left, no call is masked, no end or start of a thread is noticed.
 * Only a return from a signal and what the kernel maps for reading clocks are used.
 *
 * A thread that confines itself alone leaves the profile (silence.h). One that is the only one, or
 * that confines all (SECCOMP_FILTER_FLAG_TSYNC), ends the profile of the process. Confined threads
 * hand their filter on, so in a process with one of them no thread without a context is ever
 * profiled.
 */
#ifndef HCCT_CONFINE_H
#define HCCT_CONFINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/life/thread.h"

/* No thread of the process may make system calls for the agent. Inherited by children. Read by the
 * assembly of wrap/sleep.c, too. */
extern _Atomic bool confine_all __attribute__((visibility("hidden")));
/* Some thread may not: those without a context are taken for such. Inherited by children. */
extern _Atomic bool confine_some __attribute__((visibility("hidden")));

/* True when the calling thread makes no system call for the agent. Any context. */
static inline bool confine_is_quiet(void) {
    return atomic_load(&confine_all) || (atomic_load(&confine_some) && thread_self == NULL);
}

/* False in a child that shares its parent's memory (vfork, CLONE_VM): what the agent keeps is the
 * parent's, while signal table and masks are the child's own. False in a thread that is quiet. Else
 * one system call. Any context. */
bool agent_owns_memory(void);

/* For a moment, one thread works on what is the others': they come in when it has done so. */
extern _Atomic bool confine_held __attribute__((visibility("hidden")));

/* The rest of the two below. `waits`: for the thread that has confine_held. */
bool confine_enter_rarely(struct agent_thread *thread, uint32_t before, bool waits);

/* Stands around what makes system calls for the agent, so that confine_begin and confine_hold of
 * another thread wait for its end. False: it may make none, and there is no confine_leave. `before`
 * is for confine_leave. Thread context, on the thread itself. */
static inline bool confine_enter(struct agent_thread *thread, uint32_t *before) {
    *before = atomic_exchange(&thread->inside, 1);
    if (hcct_likely(!atomic_load(&confine_all) && !atomic_load(&confine_held)))
        return true;
    return confine_enter_rarely(thread, *before, true);
}

/* The same in signal context: false also while another thread has confine_held. */
static inline bool confine_enter_at_tick(struct agent_thread *thread, uint32_t *before) {
    *before = atomic_exchange(&thread->inside, 1);
    if (hcct_likely(!atomic_load(&confine_all) && !atomic_load(&confine_held)))
        return true;
    return confine_enter_rarely(thread, *before, false);
}

static inline void confine_leave(struct agent_thread *thread, uint32_t before) {
    atomic_store_explicit(&thread->inside, before, memory_order_release);
}

/* The calling thread may work on what other threads keep for themselves, or change: none of them is
 * in code between confine_enter and confine_leave until confine_let_go, which takes what this
 * returns. No signal comes to the calling thread meanwhile. Waits for another that does so. Any
 * context. */
uint64_t confine_hold(void);
void confine_let_go(uint64_t mask);
/* In a child: who has confine_held may not be there. Process context. */
void confine_forget_held(void);

/* There are other threads with a context, those of a parent process not counted. Any context. */
bool confine_has_others(void);
/* What others do just now may take system calls; what they begin from now on takes none. */
void confine_wait_for_others(void);

/* Whether the process was begun confined, so that it can't be profiled. Makes no call but those
 * that the loader has made, and fork. Process context. */
bool confine_was_born(void);

#endif
