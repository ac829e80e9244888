/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_evidence.h - whether a word can be the return address of code that has no unwind data.
 */
#ifndef HCCT_UNWIND_EVIDENCE_H
#define HCCT_UNWIND_EVIDENCE_H

#include "preload/sample/unwind_types.h"

/* The 16 bytes of code around `pc`, 8 on each side; zeros for the far ones where nothing is mapped.
 * Words of the stack often point into it, but there is no code. */
bool unwind_read_code(const struct unwind_env *env, uint64_t pc, uint8_t code[16]);

#define UNWIND_NEAR (1ull << 31) /* a call within generated code reaches no further */

/* How likely an address is the return address of a routine in code of `module` without a rule. */
enum unwind_evidence {
    UNWIND_CALL_NONE,      /* it follows no call, or that of a function with a rule */
    UNWIND_CALL_ELSEWHERE, /* it follows a call of other code, such as a copy of the module's */
    UNWIND_CALL_INDIRECT,  /* it follows a call that goes who knows where */
    UNWIND_CALL_DIRECT,    /* it follows a call of such code, if by way of a PLT entry */
};

/* Without a module (NULL) no call's target tells anything. */
enum unwind_evidence unwind_call_before(const struct unwind_env *env,
                                        const struct unwind_module *module, uint64_t ra);

/* Whether `pc` is code of a module with a rule for it. */
bool unwind_has_rule(const struct unwind_env *env, uint64_t pc);

/* A return address comes after a call: what a stale or foreign word seldom does. */
bool unwind_is_return_address(const struct unwind_env *env, uint64_t ra);

/* Whether generated code at `pc` may go back `to` a place although no call is there: interpreters
 * push where to go on, and jump. Such a place is near, and in no module. */
bool unwind_may_go_back(const struct unwind_env *env, uint64_t pc, uint64_t to);

/* The caller's frame pointer, when `at` is the first word that a routine has pushed: it is there
 * when the routine's own frame pointer leads there, or has not changed since. */
void unwind_find_pushed_fp(const struct unwind_env *env, struct unwind_registers *regs,
                           uint64_t at);

#endif
