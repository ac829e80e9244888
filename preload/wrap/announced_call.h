/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * announced_call.h - what a handler knows of the call that it may have interrupted.
 */
#ifndef HCCT_ANNOUNCED_CALL_H
#define HCCT_ANNOUNCED_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* A thread's innermost call that is open, or its last one that was watched. By ways that nobody
 * hears of (a jump that the compiler makes, setcontext, the end of a child of vfork) it may have
 * been left: so nothing is written to where it is, and what a handler needs to know of it stands
 * here. */
struct announced_call {
    uintptr_t call;    /* where it is on the stack; 0: there is none */
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    uint32_t number;   /* counted by its thread, from 1 on */
    uint32_t handlers; /* that the thread had called before */
    uint16_t which;    /* sleep_number */
    bool cut;          /* it is open, and our signal has cut it short */
};

/* Whether the context is in that call, in the real function or in the kernel, by what stands on the
 * stack. What was left may still look so where nothing has been written since: no more than timers
 * and timeouts may depend on it. Signal context. */
bool sleep_is_in(const struct announced_call *announced, const ucontext_t *uc);

#endif
