/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_stack.c - sigaltstack, by system calls: libc's is one of our wrappers.
 */
#include "preload/life/handler_stack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/wire/arch.h"
#include "preload/life/sys.h"

#define AUTODISARM (1u << 31) /* SS_AUTODISARM, which libc does not tell */
#define AMPLE      16384u     /* that is left of a thread's stack; ours has four times as much */

_Atomic bool handler_stack_gone;
static _Atomic bool is_relied_on;

static bool is_ours(const struct agent_thread *thread, const stack_t *stack) {
    return stack->ss_sp == thread->handler_stack && stack->ss_size == HANDLER_STACK_BYTES;
}

static bool is_on_ours(const struct agent_thread *thread, uintptr_t sp) {
    uintptr_t low = (uintptr_t)thread->handler_stack;
    return sp >= low && sp < low + HANDLER_STACK_BYTES;
}

static stack_t ours_of(const struct agent_thread *thread) {
    return (stack_t){.ss_sp = thread->handler_stack,
                     .ss_size = HANDLER_STACK_BYTES,
                     .ss_flags = (int)AUTODISARM};
}

static void say_none(stack_t *stack) {
    memset(stack, 0, sizeof *stack);
    stack->ss_flags = SS_DISABLE;
}

/* A thread that begins has none, so it is not asked for first: that would be a system call more. */
bool handler_stack_begin(const struct agent_thread *thread) {
    const stack_t ours = ours_of(thread);
    stack_t before;
    if (atomic_load(&handler_stack_gone))
        return false;
    long status = sys2(SYS_sigaltstack, &ours, &before);
    if (status == 0 && (before.ss_flags & SS_DISABLE) != 0)
        return true;
    if (status == 0)
        sys2(SYS_sigaltstack, &before, 0);
    if (status == 0 || status == -EPERM) /* it has one, or is on it */
        handler_stack_give_way(false);
    return false;
}

bool handler_stack_is_there(const struct agent_thread *thread) {
    stack_t now;
    return sys2(SYS_sigaltstack, 0, &now) == 0 && is_ours(thread, &now);
}

/* Where no other is known of, it is ours, but for one that was set past libc. */
void handler_stack_end(const struct agent_thread *thread) {
    stack_t none, before;
    say_none(&none);
    if (atomic_load(&handler_stack_gone) && !handler_stack_is_there(thread))
        return;
    if (sys2(SYS_sigaltstack, &none, &before) == 0 && (before.ss_flags & SS_DISABLE) == 0 &&
        !is_ours(thread, &before))
        sys2(SYS_sigaltstack, &before, 0);
}

void handler_stack_give_way(bool relied_on) {
    if (relied_on)
        atomic_store(&is_relied_on, true);
    atomic_store(&handler_stack_gone, true);
}

bool handler_stack_is_relied_on(void) {
    return atomic_load(&is_relied_on);
}

/* What stands there is in force when the handler returns. Where a handler is on ours that has been
 * set past libc, ours would be used again from its top. */
void handler_stack_change(const struct agent_thread *thread, ucontext_t *uc) {
    if (!atomic_load(&handler_stack_gone)) {
        if ((uc->uc_stack.ss_flags & SS_DISABLE) != 0 &&
            !is_on_ours(thread, (uintptr_t)arch_reg(uc, ARCH_SP)))
            uc->uc_stack = ours_of(thread);
    } else if (!atomic_load(&is_relied_on) && is_ours(thread, &uc->uc_stack)) {
        say_none(&uc->uc_stack);
    }
}

void handler_stack_hide(const struct agent_thread *thread, stack_t *old) {
    if (is_ours(thread, old))
        say_none(old);
}

/* A handler of a runtime that relies on ours may be running there, or may have left it to come
 * back.
 */
static bool is_on_roomy(const struct agent_thread *thread, uintptr_t sp) {
    return (sp >= thread->stack_low + AMPLE && sp < thread->stack_high) || is_on_ours(thread, sp) ||
           handler_stack_is_relied_on();
}

void handler_stack_call(struct agent_thread *thread,
                        void (*function)(struct agent_thread *, const void *),
                        const void *argument) {
    if (hcct_likely(is_on_roomy(thread, (uintptr_t)__builtin_frame_address(0))))
        function(thread, argument);
    else
        handler_stack_switch(thread, argument, function,
                             (char *)thread->handler_stack + HANDLER_STACK_BYTES);
}
