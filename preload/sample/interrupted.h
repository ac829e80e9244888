/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * interrupted.h - whether a signal has met its thread in a system call.
 */
#ifndef HCCT_INTERRUPTED_H
#define HCCT_INTERRUPTED_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/wire/arch.h"
#include "common/wire/wire.h"

/* The kernel leaves the pc at the system call's instruction when it will make the call again
 * (SA_RESTART), and right after it with the answer -EINTR when it won't. Signal context: the code
 * at the pc has just run, so it can be read. */
static inline bool interrupted_in_call(const ucontext_t *uc) {
    uint64_t pc = arch_pc(uc);
    const uint8_t *code = (const uint8_t *)(uintptr_t)pc;
    uint64_t in_page = pc % WIRE_PAGE;
    if (in_page <= WIRE_PAGE - ARCH_SYSCALL_BYTES && arch_is_syscall(code))
        return true;
    return in_page >= ARCH_SYSCALL_BYTES && arch_is_syscall(code - ARCH_SYSCALL_BYTES) &&
           (int64_t)arch_reg(uc, ARCH_RESULT) == -EINTR;
}

/* It has just made one, whatever that has answered. Signal context. */
static inline bool interrupted_behind_call(const ucontext_t *uc) {
    uint64_t pc = arch_pc(uc);
    return pc % WIRE_PAGE >= ARCH_SYSCALL_BYTES &&
           arch_is_syscall((const uint8_t *)(uintptr_t)pc - ARCH_SYSCALL_BYTES);
}

#endif
