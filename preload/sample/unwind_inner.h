/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_inner.h - what the kinds of steps share (unwind.c, unwind_bare.c), and reading words as
 * they do (emit_raw_stack.c).
 */
#ifndef HCCT_UNWIND_INNER_H
#define HCCT_UNWIND_INNER_H

#include "preload/sample/unwind_types.h"

#define UNWIND_KNOWN(n) (1ull << (n))

/* In registers.known: the frame pointer may have changed since, so no rule goes by it; but where
 * there is no rule, the chain of frame pointers is tried, and what it finds is checked. */
#define UNWIND_FP_PERHAPS (1ull << ARCH_REGS)

/* In registers.known, of a stack pointer that is not known: it may be right all the same. */
#define UNWIND_SP_PERHAPS (1ull << (ARCH_REGS + 1))

static inline bool unwind_read(const struct unwind_env *env, uint64_t address, uint64_t *word) {
    if (hcct_likely(address >= env->low && address < env->high - 7)) {
        *word = *(const uint64_t *)address;
        return true;
    }
    return env->read != NULL && env->read(env->arg, address, word);
}

/* regs is the caller's from here on: return address, without a signature, and stack pointer are
 * known. */
static inline enum unwind_end unwind_to_caller(struct unwind_registers *regs,
                                               struct unwind_step *step, uint64_t ra, uint64_t sp) {
    step->site = regs->pc = ra;
    regs->reg[ARCH_SP] = sp;
    regs->known = (regs->known & UNWIND_FP_KNOWN) | UNWIND_KNOWN(ARCH_SP);
    regs->exact = false;
    return hcct_likely(ra != 0) ? UNWIND_STEPPED : UNWIND_COMPLETE;
}

/* A step by a rule alone: UNWIND_NO_RULE where there is none. unwind.c has it. */
enum unwind_end unwind_ruled_step(const struct unwind_env *env, struct unwind_module *module,
                                  struct unwind_registers *regs, struct unwind_step *step);

/* The row of exactly this address, NULL when it has no rule. */
static inline const struct unwind_row *unwind_row_at(const struct unwind_module *module,
                                                     uint64_t pc) {
    if (module->table == NULL)
        return NULL;
    const struct unwind_row *row = unwind_lookup(module->table, pc - module->bias);
    return row != NULL && row->rule != UNWIND_RULE_NONE ? row : NULL;
}

#endif
