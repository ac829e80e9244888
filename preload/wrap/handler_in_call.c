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
#include "preload/wrap/handler_masks.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep_machine.h"

/* The thread's innermost masked call, in whose real function the context is. */
static struct sleep_call *call_interrupted(const ucontext_t *uc) {
    const struct announced_call masked = {.call = sleep_masked};
    struct sleep_call *call = (struct sleep_call *)sleep_masked;
    return sleep_is_in(&masked, uc) && sleep_is_whole(call) && call->unblock == SLEEP_CALL_MASKED &&
                   signal_set_has(&uc->uc_sigmask, signal_number())
               ? call
               : NULL;
}

/* A tick that was blocked comes at once, and is the call's. */
static void open_signal(struct agent_thread *self, const struct sleep_call *call) {
    self->left_call = call;
    signal_unblock();
    self->left_call = NULL;
}

/* No other handler comes between. */
struct sleep_call *handler_in_call_begin(int number, ucontext_t *uc) {
    struct agent_thread *self = thread_self;
    if (self != NULL)
        restart_meet_handler(&self->restart, number, uc);
    struct sleep_call *call = self != NULL && signal_number() != 0 ? call_interrupted(uc) : NULL;
    uint32_t before;
    uint64_t mask;
    if (call == NULL || !agent_owns_memory() || !handler_mask_has_room(self) ||
        !confine_enter(self, &before))
        return NULL;
    bool begins = signal_block_all(&mask);
    if (begins) {
        trigger_handler_begins(call);
        open_signal(self, call);
        signal_put_back(mask & ~signal_bit(signal_number()));
    }
    confine_leave(self, before);
    return begins ? call : NULL;
}

/* Signals stay blocked up to the end of the kernel's frame, which has the call's mask. */
void handler_in_call_end(struct sleep_call *call, uintptr_t handler, uintptr_t sp,
                         uintptr_t frame) {
    struct agent_thread *self = thread_self;
    const struct sleep_place place = {.pc = handler, .sp = sp, .frame = frame};
    uint32_t before;
    uint64_t mask;
    if (self == NULL || sleep_masked != (uintptr_t)call || !confine_enter(self, &before))
        return;
    if (signal_block_all(&mask))
        trigger_handler_ends(call, &place);
    confine_leave(self, before);
}
