/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_aarch64.c - where the kernel's answer has overwritten the first argument of the call
 * nobody has kept it: no call can be made again that the kernel does not make again by itself. The
 * functions of libc that would end early are made with our signal blocked instead
 * (sleep_aarch64.c). What is left are system calls that the program makes by its own instructions,
 * and those that libc makes inside of other functions: they are counted.
 */
#include <signal.h>

#include "common/wire/arch.h"
#include "common/wire/wire.h"
#include "preload/sample/interrupted.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/restart_due.h"

#define NUMBER 8 /* the register of a call's number */

void restart_start(void) {}

enum restart_verdict restart_repair(struct restart_state *state, struct restart_call *call) {
    (void)state;
    return call->result == -EINTR ? RESTART_DECLINED : RESTART_NONE;
}

/* Our handler has SA_RESTART, so the kernel has put the thread before its call; or it was about to
 * make that, and a signal may as well have come behind the instruction. */
static bool is_before_call(const ucontext_t *uc) {
    const uint8_t *code = (const uint8_t *)(uintptr_t)uc->uc_mcontext.pc;
    return (uintptr_t)code % WIRE_PAGE <= WIRE_PAGE - ARCH_SYSCALL_BYTES && arch_is_syscall(code);
}

static bool ends_by_signal(const ucontext_t *uc) {
    const mcontext_t *context = &uc->uc_mcontext;
    return is_before_call(uc) &&
           restart_ends_by_signal((long)context->regs[NUMBER], (long)context->regs[1]);
}

static void end_with_eintr(ucontext_t *uc) {
    uc->uc_mcontext.pc += ARCH_SYSCALL_BYTES;
    uc->uc_mcontext.regs[ARCH_RESULT] = (uint64_t)-EINTR;
}

enum restart_verdict restart_interrupted(struct restart_state *state, ucontext_t *uc, int own,
                                         bool wall) {
    struct restart_call call = {.result = (int64_t)arch_reg(uc, ARCH_RESULT)};
    uintptr_t action[SYS_ACTION_WORDS];
    (void)wall;
    if (ends_by_signal(uc) && restart_due(uc, own, action) != 0 &&
        (action[SYS_ACTION_FLAGS] & SA_RESTART) == 0) {
        end_with_eintr(uc);
        return RESTART_EXPECTED;
    }
    return interrupted_in_call(uc) ? restart_repair(state, &call) : RESTART_NONE;
}

void restart_meet_handler(const struct restart_state *state, int number, ucontext_t *uc) {
    uintptr_t action[SYS_ACTION_WORDS];
    (void)state;
    if (!ends_by_signal(uc))
        return;
    sys_action(number, action);
    if ((action[SYS_ACTION_FLAGS] & SA_RESTART) == 0)
        end_with_eintr(uc);
}
