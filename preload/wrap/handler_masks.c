/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_masks.c - what is asked for each signal, and whether there are small stacks.
 */
#include "preload/wrap/handler_masks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/signal.h"
#include "preload/life/signal_set.h"
#include "preload/life/thread.h"
#include "preload/wrap/handler_entry.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

/* A signal's frame may have 12 KB (AMX): two of them, and what both handlers use. */
#define ROOMY_STACK 32768

enum { MASKS_OURS = 1, ON_STACK = 2 };

static _Atomic uint8_t wants[_NSIG]; /* the application, of its handler */
static _Atomic bool small_stacks;    /* from now on */
static _Atomic bool all_masked;      /* handlers from before are so, too */
static _Atomic bool any_masked;      /* there are handlers with our signal blocked */

bool handler_mask_is_fault(int number) {
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
        return true;
    default:
        return false;
    }
}

static bool is_handler(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool lacks_room(int number, const struct sigaction *action) {
    return (action->sa_flags & SA_ONSTACK) != 0 && is_handler(action) &&
           (handler_mask_is_fault(number) || small_stacks);
}

void handler_mask_apply(int number, int ours, struct sigaction *action) {
    bool masks = signal_set_has(&action->sa_mask, ours);
    bool on_stack = (action->sa_flags & SA_ONSTACK) != 0;
    wants[number] = (uint8_t)((masks ? MASKS_OURS : 0) | (on_stack ? ON_STACK : 0));
    if (lacks_room(number, action)) {
        any_masked = true;
        signal_set_add(&action->sa_mask, ours);
    } else {
        signal_set_remove(&action->sa_mask, ours);
        if (!handler_mask_is_fault(number))
            handler_entry_use(action);
    }
    if (!handler_stack_gone)
        action->sa_flags &= ~SA_ONSTACK;
}

int handler_mask_get(int number) {
    return wants[number];
}

void handler_mask_set_back(int number, int before) {
    wants[number] = (uint8_t)before;
}

void handler_mask_forget(int number) {
    if (number > 0 && number < _NSIG)
        wants[number] = 0;
}

void handler_mask_show(int before, int ours, struct sigaction *old) {
    handler_entry_hide(old);
    if ((before & MASKS_OURS) != 0)
        signal_set_add(&old->sa_mask, ours);
    else
        signal_set_remove(&old->sa_mask, ours);
    if ((before & ON_STACK) != 0)
        old->sa_flags |= SA_ONSTACK;
}

/* A handler of the application, and what the kernel has of it. */
static bool get_handler(int number, struct sigaction *action) {
    return real_sigaction(number, NULL, action) == 0 && is_handler(action) &&
           !signal_is_agents(action);
}

void handler_mask_move(int before, int ours) {
    struct sigaction action;
    for (int number = 1; number < _NSIG; number++) {
        if (number == before || number == ours || !get_handler(number, &action))
            continue;
        int on_stack = action.sa_flags & SA_ONSTACK; /* also by a system call, past libc */
        handler_mask_show(wants[number], before, &action);
        if (ours != 0)
            handler_mask_apply(number, ours, &action);
        action.sa_flags |= on_stack;
        real_sigaction(number, &action, NULL);
    }
}

/* A handler has been set past libc that asks for a stack. */
static bool some_rely_on_stacks(void) {
    struct sigaction action;
    for (int number = 1; number < _NSIG; number++)
        if (get_handler(number, &action) && (action.sa_flags & SA_ONSTACK) != 0)
            return true;
    return false;
}

/* No other thread may go on before all handlers are as they are to be. */
static void allow(bool small, bool relied_on, int ours) {
    uint64_t mask = confine_hold();
    handler_stack_give_way(relied_on || (!handler_stack_gone && some_rely_on_stacks()));
    if (small)
        small_stacks = true;
    handler_mask_move(ours, ours);
    if (small)
        all_masked = true;
    confine_let_go(mask);
}

/* Go's runtime sets its handlers by libc, where there is cgo, and looks for a stack by a system
 * call. An object that has it defines this, through which C calls Go. Code that nothing is known of
 * may be the like. */
static bool relies_on_stacks(const struct sigaction *action) {
    return (action->sa_flags & SA_ONSTACK) != 0 && is_handler(action) &&
           symbol_beside((const void *)(uintptr_t)action->sa_handler, "crosscall2") !=
               SYMBOL_MISSING;
}

void handler_mask_heed(const struct sigaction *action, int ours) {
    if (!handler_stack_is_relied_on() && relies_on_stacks(action))
        allow(false, true, ours);
}

void handler_mask_stack(size_t bytes, int ours) {
    bool small = bytes < ROOMY_STACK;
    if (ours != 0 && (!handler_stack_gone || (small && !all_masked)))
        allow(small, false, ours);
}

void handler_mask_allow_stacks(int ours) {
    if (ours != 0 && !handler_stack_gone)
        allow(false, false, ours);
}

void handler_mask_jump(const void *sp) {
    const struct agent_thread *self = thread_self;
    if (hcct_likely(!any_masked) || self == NULL || self->hidden_signal != 0)
        return;
    if ((uintptr_t)sp < self->stack_low || (uintptr_t)sp >= self->stack_high)
        signal_unblock();
}

void handler_mask_jump_to(uintptr_t sp) {
    const struct agent_thread *self = thread_self;
    uintptr_t call = sleep_masked;
    if (self == NULL || sp <= call)
        return;
    bool call_on_own = call >= self->stack_low && call < self->stack_high;
    bool sp_on_own = sp >= self->stack_low && sp < self->stack_high;
    if (call_on_own && !sp_on_own)
        return; /* within the handler, on its alternate stack */
    sleep_masked = 0;
    signal_unblock();
}

/* Handlers that mask our signal run on alternate stacks. */
bool handler_mask_has_room(const struct agent_thread *thread) {
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    return !any_masked || (sp >= thread->stack_low && sp < thread->stack_high);
}

void handler_mask_open(void) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (self == NULL || !agent_owns_memory() || !handler_mask_has_room(self) ||
        !confine_enter(self, &before))
        return;
    signal_unblock();
    confine_leave(self, before);
}
