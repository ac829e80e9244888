/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_evidence.c - what the code before an address says of it, and what the code around it does.
 */
#include "preload/sample/unwind_evidence.h"

#include <string.h>

#include "preload/sample/unwind_inner.h"

/* ---- code ---- */

bool unwind_read_code(const struct unwind_env *env, uint64_t pc, uint8_t code[16]) {
    uint64_t first = (pc - 8) & ~7ull, word[3] = {0};
    if (pc >= env->low && pc < env->high)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (!unwind_read(env, first + 8 * i, &word[i]) && i == 1)
            return false;
    memcpy(code, (const uint8_t *)word + ((pc - 8) & 7), 16);
    return true;
}

bool unwind_is_return_address(const struct unwind_env *env, uint64_t ra) {
    uint8_t code[16];
    return ra > ARCH_LOWEST_CODE && unwind_read_code(env, ra, code) &&
           arch_is_call_before(code + 8);
}

bool unwind_has_rule(const struct unwind_env *env, uint64_t pc) {
    struct unwind_module module;
    return env->find(env->arg, pc, &module) && unwind_row_at(&module, pc) != NULL;
}

/* ---- whose call it was ---- */

/* Whether `address` is code of `module` without a rule. */
static bool is_bare(const struct unwind_module *module, uint64_t address) {
    return address - module->start < module->end - module->start &&
           unwind_row_at(module, address) == NULL;
}

/* Where a PLT entry at `address` leads; 0: there is none. */
static uint64_t behind_plt(const struct unwind_env *env, uint64_t address) {
    uint8_t code[16]; /* from the address on */
    uint64_t target, slot = 0;
    if (unwind_read_code(env, address + 8, code))
        slot = arch_jump_slot(code, address);
    return slot != 0 && (slot & 7) == 0 && unwind_read(env, slot, &target) ? target : 0;
}

enum unwind_evidence unwind_call_before(const struct unwind_env *env,
                                        const struct unwind_module *module, uint64_t ra) {
    uint8_t code[16];
    if (ra <= ARCH_LOWEST_CODE || !unwind_read_code(env, ra, code) ||
        !arch_is_call_before(code + 8))
        return UNWIND_CALL_NONE;
    uint64_t called = arch_call_target(code + 8, ra);
    if (called == 0 || module == NULL)
        return UNWIND_CALL_INDIRECT;
    if (is_bare(module, called))
        return UNWIND_CALL_DIRECT;
    uint64_t target = behind_plt(env, called);
    if (target != 0)
        return is_bare(module, target) ? UNWIND_CALL_DIRECT : UNWIND_CALL_NONE;
    return called - module->start < module->end - module->start ? UNWIND_CALL_NONE
                                                                : UNWIND_CALL_ELSEWHERE;
}

bool unwind_may_go_back(const struct unwind_env *env, uint64_t pc, uint64_t to) {
    struct unwind_module module;
    uint8_t code[16];
    return to - pc + UNWIND_NEAR < 2 * UNWIND_NEAR && unwind_read_code(env, to, code) &&
           !env->find(env->arg, to, &module);
}

/* ---- the frame pointer ---- */

void unwind_find_pushed_fp(const struct unwind_env *env, struct unwind_registers *regs,
                           uint64_t at) {
    uint64_t word, fp = regs->reg[ARCH_FP];
    if (unwind_read(env, at, &word) && (fp == at || fp == word))
        regs->reg[ARCH_FP] = word;
    else
        regs->known = (regs->known & ~UNWIND_FP_KNOWN) | UNWIND_FP_PERHAPS;
}
