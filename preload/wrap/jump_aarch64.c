/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jump_aarch64.c - by exclusive or with a word that only libc knows: setjmp tells it, where the
 * stack pointer is known.
 */
#include "preload/wrap/jump_target.h"

#define SAVED_SP 13

uintptr_t jump_target_sp(const struct __jmp_buf_tag *buffer) {
    struct __jmp_buf_tag here[1];
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    if (_setjmp(here) != 0)
        return 0;
    return (uintptr_t)(here->__jmpbuf[SAVED_SP] ^ buffer->__jmpbuf[SAVED_SP]) ^ sp;
}
