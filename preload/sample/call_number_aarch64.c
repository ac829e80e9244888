/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_number_aarch64.c - the number stays in x8, whatever the kernel answers.
 */
#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "preload/sample/call_number.h"

#define NUMBER 8 /* the register */

uint64_t call_number_at(const ucontext_t *uc) {
    return (uint32_t)arch_reg(uc, NUMBER);
}

uint64_t call_number_behind(const uint8_t *code, size_t n, const ucontext_t *uc) {
    (void)code;
    (void)n;
    return call_number_at(uc);
}

bool call_number_is_given(uint64_t pc) {
    (void)pc;
    return false;
}
