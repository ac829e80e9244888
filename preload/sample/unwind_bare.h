/*
 * unwind_bare.h - steps through code that has no unwind data: assembly, generated code.
 *
 * Nothing tells for certain where the caller is. What is found is checked before it is used: a
 * return address follows a call, and where the call's target can be read it must be such code, too.
 * What passes is counted (WIRE_BY_FP) or opaque; what does not ends the walk.
 */
#ifndef HCCT_UNWIND_BARE_H
#define HCCT_UNWIND_BARE_H

#include "preload/sample/unwind.h"

/* From code of `module` that has no rule. Fills step->routine. */
enum unwind_end unwind_bare_step(const struct unwind_env *env, const struct unwind_module *module,
                                 struct unwind_registers *regs, struct unwind_step *step);

/* From a pc that no module covers: generated code, or no code at all (then step->routine is 0). */
enum unwind_end unwind_generated_step(const struct unwind_env *env, struct unwind_registers *regs,
                                      struct unwind_step *step);

/* ---- what the kinds of steps share ---- */

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

/* A step by a rule alone: UNWIND_NO_RULE where there is none. */
enum unwind_end unwind_ruled_step(const struct unwind_env *env, struct unwind_module *module,
                                  struct unwind_registers *regs, struct unwind_step *step);

#endif
