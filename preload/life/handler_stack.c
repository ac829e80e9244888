/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handler_stack.c - sigaltstack, by system calls: libc's is one of our wrappers.
 */
#include "preload/life/handler_stack.h"

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

bool handler_stack_begin(const struct agent_thread *thread) {
    const stack_t ours = ours_of(thread);
    stack_t now;
    if (atomic_load(&handler_stack_gone) || sys2(SYS_sigaltstack, 0, &now) != 0)
        return false;
    if ((now.ss_flags & SS_DISABLE) != 0)
        return sys2(SYS_sigaltstack, &ours, 0) == 0;
    handler_stack_give_way(false);
    return false;
}

bool handler_stack_is_there(const struct agent_thread *thread) {
    stack_t now;
    return sys2(SYS_sigaltstack, 0, &now) == 0 && is_ours(thread, &now);
}

void handler_stack_end(const struct agent_thread *thread) {
    stack_t none;
    say_none(&none);
    if (handler_stack_is_there(thread))
        sys2(SYS_sigaltstack, &none, 0);
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
