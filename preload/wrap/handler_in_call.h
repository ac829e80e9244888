/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_in_call.h - around a handler of the application that has interrupted a call for which our
 * signal is blocked, or an open one (handler_entry.h, whose entries call this).
 */
#ifndef HCCT_HANDLER_IN_CALL_H
#define HCCT_HANDLER_IN_CALL_H

#include <stdint.h>
#include <ucontext.h>

#include "preload/wrap/sleep.h"

/* Defined by the trigger: a handler has interrupted the masked or open call, in its real function,
 * and begins; it has returned, at `time` of CLOCK_MONOTONIC: what it has reached by then is at
 * `place`. On the thread; keep errno. */
void trigger_handler_begins(struct sleep_call *call) __attribute__((visibility("hidden")));
void trigger_handler_ends(struct sleep_call *call, const struct sleep_place *place, uint64_t time)
    __attribute__((visibility("hidden")));

/* A handler of the signal begins, with that context: the call that it has interrupted, for which
 * our signal is blocked, and which is over for the while; NULL: the handler is to run as if there
 * were no entry. */
struct sleep_call *handler_in_call_begin(int number, ucontext_t *uc)
    __attribute__((visibility("hidden"), used));
/* The handler has returned, which began with that stack pointer and frame pointer, and `link` where
 * a register has the return address. */
void handler_in_call_end(struct sleep_call *call, uintptr_t handler, uintptr_t sp, uintptr_t frame,
                         uintptr_t link) __attribute__((visibility("hidden"), used));

#endif
