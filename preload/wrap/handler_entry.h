/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_entry.h - our signal in handlers of the application that interrupt a call for which it is
 * blocked (sleep.h).
 *
 * The kernel keeps a mask while a handler runs, so such a handler would have no samples, and its
 * time would be the call's. So the kernel is given the address of an entry instead of the
 * handler's. An entry leads to its handler: where no such call is interrupted, by a jump, so that
 * nothing on the stack tells. Else the call is over for the while (handler_in_call.h), our
 * signal is opened, and the handler called; behind it the call goes on, when the kernel puts back
 * its mask.
 *
 * An entry belongs to one handler for good, so that no change of a disposition has a moment at
 * which the wrong one is called. There are HANDLER_ENTRIES: the handlers of a program that has more
 * of them are left as they are. So are those of faults, and those on small stacks
 * (handler_masks.h).
 */
#ifndef HCCT_HANDLER_ENTRY_H
#define HCCT_HANDLER_ENTRY_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

#define HANDLER_ENTRIES 64

typedef void signal_handler(int number);

/* What the kernel is to have in place of `handler`, which may be SIG_DFL or the like: those stay.
 * Adds an entry: where the agent may change its memory. Any context. */
signal_handler *handler_entry_of(signal_handler *handler);
/* The other way round. Any context, also in a child that shares its parent's memory. */
signal_handler *handler_entry_handler(signal_handler *in_kernel);

/* The same of what an action has. */
void handler_entry_use(struct sigaction *action);
void handler_entry_hide(struct sigaction *old);

/* ---- for the entries themselves, one file for each architecture ---- */

/* The handlers by their entries' order. */
extern _Atomic(uintptr_t) handler_entries[HANDLER_ENTRIES] __attribute__((visibility("hidden")));

/* The address of an entry. Any context. */
uintptr_t handler_entry_address(unsigned which);

#endif
