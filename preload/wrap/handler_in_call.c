/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_in_call.c - the call is over when such a handler begins, and goes on when it returns.
 */
#include "preload/wrap/handler_in_call.h"

#include <stdbool.h>
#include <stddef.h>

#include "preload/life/confine.h"
#include "preload/life/signal.h"
#include "preload/life/signal_set.h"
#include "preload/life/thread.h"
#include "preload/sample/ticker.h"
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep_machine.h"

/* The thread's innermost call that is masked, or open, in whose real function the context is. */
static struct sleep_call *call_interrupted(const struct agent_thread *self, const ucontext_t *uc) {
    const struct announced_call masked = {.call = sleep_masked};
    bool is_blocked = signal_set_has(&uc->uc_sigmask, signal_number());
    const struct announced_call *announced = is_blocked ? &masked : &self->open_call;
    struct sleep_call *call = (struct sleep_call *)announced->call;
    uint64_t kind = is_blocked ? SLEEP_CALL_MASKED : SLEEP_CALL_OPEN;
    return sleep_is_in(announced, uc) && sleep_is_whole(call) && call->unblock == kind ? call
                                                                                       : NULL;
}

/* A tick that was blocked comes at once, and is the call's. */
static void open_signal(struct agent_thread *self, const struct sleep_call *call) {
    self->left_call = call;
    signal_unblock();
    self->left_call = NULL;
}

/* Another handler may come between: its ticks are no more the call's. */
struct sleep_call *handler_in_call_begin(int number, ucontext_t *uc) {
    struct agent_thread *self = thread_self;
    uint32_t before;
    if (self == NULL || signal_number() == 0)
        return NULL;
    self->left_call = NULL;
    restart_meet_handler(&self->restart, number, uc);
    struct sleep_call *call = call_interrupted(self, uc);
    if (call == NULL || !agent_owns_memory() || !handler_mask_has_room(self) ||
        !confine_enter(self, &before))
        return NULL;
    trigger_handler_begins(call);
    if (call->unblock == SLEEP_CALL_MASKED)
        open_signal(self, call);
    confine_leave(self, before);
    return call;
}

static bool is_still_there(const struct agent_thread *self, const struct sleep_call *call) {
    return self != NULL &&
           (sleep_masked == (uintptr_t)call || self->open_call.call == (uintptr_t)call);
}

/* Signals stay blocked up to the end of the kernel's frame, which has the call's mask. */
void handler_in_call_end(struct sleep_call *call, uintptr_t handler, uintptr_t sp, uintptr_t frame,
                         uintptr_t link) {
    struct agent_thread *self = thread_self;
    const struct sleep_place place = {.pc = handler, .sp = sp, .frame = frame, .link = link};
    uint32_t before;
    uint64_t mask, time = ticker_now(CLOCK_MONOTONIC);
    if (!is_still_there(self, call) || !confine_enter(self, &before))
        return;
    if (signal_block_all(&mask))
        trigger_handler_ends(call, &place, time);
    confine_leave(self, before);
}
