/*
 * handler_masks.c - a flag for each signal, and one for small stacks.
 */
#include "preload/wrap/handler_masks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/life/confine.h"
#include "preload/life/signal.h"
#include "preload/life/thread.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

/* A signal's frame may have 12 KB (AMX): two of them, and what both handlers use. */
#define ROOMY_STACK 32768

static _Atomic bool masks_ours[_NSIG]; /* the application wants its handler so */
static _Atomic bool small_stacks;      /* from now on */
static _Atomic bool all_masked;        /* handlers from before are so, too */
static _Atomic bool any_masked;        /* there are handlers with our signal blocked */

static bool is_fault(int number) {
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
           (is_fault(number) || small_stacks);
}

void handler_mask_apply(int number, int ours, struct sigaction *action) {
    masks_ours[number] = sigismember(&action->sa_mask, ours) == 1;
    if (lacks_room(number, action)) {
        any_masked = true;
        sigaddset(&action->sa_mask, ours);
    } else
        sigdelset(&action->sa_mask, ours);
}

int handler_mask_get(int number) {
    return masks_ours[number];
}

void handler_mask_set_back(int number, int before) {
    masks_ours[number] = before != 0;
}

void handler_mask_show(int before, int ours, struct sigaction *old) {
    if (before)
        sigaddset(&old->sa_mask, ours);
    else
        sigdelset(&old->sa_mask, ours);
}

/* Handlers that were there before the first small stack was. */
static void mask_handlers(int ours) {
    struct sigaction action;
    for (int number = 1; number < _NSIG; number++)
        if (number != ours && real_sigaction(number, NULL, &action) == 0 &&
            lacks_room(number, &action) && sigismember(&action.sa_mask, ours) == 0) {
            any_masked = true;
            sigaddset(&action.sa_mask, ours);
            real_sigaction(number, &action, NULL);
        }
}

void handler_mask_stack(size_t bytes, int ours) {
    if (bytes >= ROOMY_STACK || ours == 0 || all_masked)
        return;
    uint64_t mask = confine_hold();
    small_stacks = true;
    mask_handlers(ours); /* by each thread that comes before the first is done: none may go on */
    all_masked = true;
    confine_let_go(mask);
}

void handler_mask_move(int before, int ours) {
    struct sigaction action;
    for (int number = 1; number < _NSIG; number++) {
        if (number == before || number == ours || real_sigaction(number, NULL, &action) != 0 ||
            !is_handler(&action))
            continue;
        handler_mask_show(masks_ours[number], before, &action);
        if (ours != 0)
            handler_mask_apply(number, ours, &action);
        real_sigaction(number, &action, NULL);
    }
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
