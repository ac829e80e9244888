/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_aarch64.c - the kernel's answer has overwritten the first argument of the call, and
 * nobody has kept it: no call can be made again. The functions of libc that would end early are
 * made with our signal blocked instead (sleep_aarch64.c). What is left are system calls that the
 * program makes by its own instructions, and those that libc makes inside of other functions: they
 * are counted.
 */
#include "preload/sample/interrupted.h"
#include "preload/wrap/restart.h"

void restart_start(void) {}

enum restart_verdict restart_repair(struct restart_state *state, struct restart_call *call) {
    (void)state;
    return call->result == -EINTR ? RESTART_DECLINED : RESTART_NONE;
}

bool restart_is_expected(const ucontext_t *uc, int own) {
    (void)uc, (void)own;
    return false;
}

enum restart_verdict restart_interrupted(struct restart_state *state, ucontext_t *uc, int own,
                                         bool wall) {
    struct restart_call call = {.result = (int64_t)arch_reg(uc, ARCH_RESULT)};
    (void)own, (void)wall;
    return interrupted_in_call(uc) ? restart_repair(state, &call) : RESTART_NONE;
}

void restart_meet_handler(const struct restart_state *state, int number, ucontext_t *uc) {
    (void)state, (void)number, (void)uc;
}
