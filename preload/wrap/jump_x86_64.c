/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jump_x86_64.c - rotated, and by exclusive or with a word of the thread's control block.
 */
#include "preload/wrap/jump_target.h"

uintptr_t jump_target_sp(const struct __jmp_buf_tag *buffer) {
    enum { SAVED_RSP = 6 };
    uintptr_t sp = (uintptr_t)buffer->__jmpbuf[SAVED_RSP];
    __asm__("ror $17, %0\n xorq %%fs:0x30, %0" : "+r"(sp));
    return sp;
}
