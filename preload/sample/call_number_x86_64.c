/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_number_x86_64.c - the number is put into eax, most often right before the call.
 */
#include "common/wire/arch.h"
#include "preload/sample/call_number.h"
#include "preload/wrap/syscall_code.h"

_Static_assert(CALL_NUMBER_CODE_BYTES >= SYSCALL_CODE_REACH + ARCH_SYSCALL_BYTES,
               "the search has its reach");

/* Numbers of registers as instructions have them that differ from DWARF's: rbp's. Of the others
 * only those are asked for that agree. */
static unsigned dwarf_of(int reg) {
    return reg == 5 ? 6 : (unsigned)reg;
}

uint64_t call_number_behind(const uint8_t *code, size_t n, const ucontext_t *uc) {
    const uint8_t *end = code + n - ARCH_SYSCALL_BYTES;
    long number = syscall_known(uc);
    if (number < 0)
        number = syscall_code_number(end, n - ARCH_SYSCALL_BYTES);
    int reg = number < 0 ? syscall_code_register(end, n - ARCH_SYSCALL_BYTES) : -1;
    return reg >= 0 ? (uint32_t)arch_reg(uc, dwarf_of(reg)) : (uint64_t)number;
}

uint64_t call_number_at(const ucontext_t *uc) {
    return (uint32_t)arch_reg(uc, ARCH_RESULT);
}

bool call_number_is_given(uint64_t pc) {
    return syscall_is_telling(pc);
}
