/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler.h - the one handler of our signal, and which signal that is to be.
 */
#ifndef HCCT_HANDLER_H
#define HCCT_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/* The handler. */
void signal_handle(int number, siginfo_t *info, void *uc);

/* Takes the first candidate that nobody uses and installs the handler. False: none is free. Process
 * context. */
bool signal_start(int preferred);

/* The application sets a disposition for our signal: the agent moves to another, or steps aside
 * when none is free. After this the old signal is as if the agent had never used it. Thread
 * context.
 */
void signal_yield(void);
/* The application blocks our signal by name, to wait for it or to read it from a descriptor. As
 * before, but threads that believe it to be blocked, where it is open, leave it pending when it
 * comes. Thread context. */
void signal_give_up(void);

/* The agent uses no signal from now on, its timers are deleted; and the same one again, if it is
 * still free. Thread context. */
void signal_stop(void);
void signal_resume(int number);

/* The program ignores signal `number` from now on, or (before it is so) has a handler for it: see
 * signal_all. When this returns no thread is in code of the agent's that a handler may not
 * interrupt. Nothing is done for what is known already. Thread context. */
void signal_note_action(int number, bool ignored);
/* The same for all signals, as the kernel has them. Any context. */
void signal_learn_ignored(void);

/* What the handler is installed with has changed: its mask, or whether it asks for an alternate
 * stack. Any context, inside (confine_enter). */
void signal_set_handlers_again(void);

/* Our signal does not come: has somebody taken it past libc, by a system call? Then it is theirs,
 * and the agent moves away. Two system calls. Thread context. */
void signal_check_again(void);

/* The calling thread's timers are deleted: a signal of theirs that is pending is not to come any
 * more. What is pending of others stays. Any context. */
void signal_discard_pending(void);

#endif
