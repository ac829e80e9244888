/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_bare.c - the caller of code without unwind data: by its own instructions
 * (unwind_follow.c), by the call that led to it, by the chain of frame pointers that such code
 * keeps for its own use, or by a search of the stack (unwind_search.c).
 */
#include "preload/sample/unwind_bare.h"

#include "preload/sample/unwind_evidence.h"
#include "preload/sample/unwind_follow.h"
#include "preload/sample/unwind_inner.h"
#include "preload/sample/unwind_search.h"

/* ---- whose call it was ---- */

/* Whether code of `module` without a rule, or generated code (NULL), can have been called from
 * there. */
static bool may_return_to(const struct unwind_env *env, const struct unwind_module *module,
                          uint64_t ra) {
    return module != NULL ? unwind_call_before(env, module, ra) != UNWIND_CALL_NONE
                          : unwind_is_return_address(env, ra);
}

/* As unwind_may_go_back, of code whose frame is at `fp`: the chain of frame pointers goes on from
 * there. */
static bool chain_goes_on(const struct unwind_env *env, uint64_t pc, uint64_t fp) {
    uint64_t next, ra;
    return unwind_read(env, fp, &next) && next > fp && (next & 7) == 0 &&
           unwind_read(env, next + 8, &ra) &&
           (ra - pc + UNWIND_NEAR < 2 * UNWIND_NEAR || unwind_is_return_address(env, ra));
}

/* ---- by frame pointer ---- */

/* The caller, as the frame pointer has it. */
struct framed_caller {
    uint64_t ra, fp, sp;
    uint64_t ra_word;
    uint64_t ra_at, fp_at; /* where these were read; 0: it is still in its register */
    bool sp_known;         /* else it is no less */
};

/* The return address where no frame was made yet, and the frame pointer is the caller's. */
static bool find_frameless(const struct unwind_env *env, const struct unwind_registers *regs,
                           struct framed_caller *caller) {
    uint64_t sp = regs->reg[ARCH_SP];
    caller->sp = sp + ARCH_CALL_BYTES;
    caller->sp_known = true;
    caller->ra_word = regs->reg[ARCH_LINK];
    if (ARCH_HAS_LINK)
        return (regs->known & UNWIND_KNOWN(ARCH_LINK)) != 0;
    caller->ra_at = sp;
    return (sp & 7) == 0 && unwind_read(env, sp, &caller->ra_word);
}

/* Saved frame pointer and return address side by side at `base`. */
static bool find_framed(const struct unwind_env *env, uint64_t base, struct framed_caller *caller) {
    caller->fp_at = base;
    caller->ra_at = base + 8;
    caller->sp = base + 16;
    caller->sp_known = ARCH_FP_TELLS_SP;
    return (base & 7) == 0 && unwind_read(env, caller->ra_at, &caller->ra_word) &&
           unwind_read(env, base, &caller->fp);
}

/* Generated code, and some written by hand, keeps the chain of frame pointers for its own use. The
 * instructions at an interrupted pc tell whether its frame is set up already. */
static bool find_by_fp(const struct unwind_env *env, const struct unwind_module *module,
                       const struct unwind_registers *regs, struct framed_caller *caller) {
    uint8_t code[16];
    uint64_t sp = regs->reg[ARCH_SP], fp = regs->reg[ARCH_FP];
    enum arch_frame state = ARCH_FRAME_SET;
    *caller = (struct framed_caller){.fp = fp};
    if (regs->exact && unwind_read_code(env, regs->pc, code))
        state = arch_frame_at(code + 8);
    bool set = state == ARCH_FRAME_SET;
    if (set && (!(regs->known & (UNWIND_FP_KNOWN | UNWIND_FP_PERHAPS)) || fp < sp))
        return false;
    bool found = state == ARCH_FRAME_NONE ? find_frameless(env, regs, caller)
                                          : find_framed(env, set ? fp : sp, caller);
    if (!found)
        return false;
    caller->ra = arch_unsigned(caller->ra_word);
    return may_return_to(env, module, caller->ra) ||
           (module == NULL && set && unwind_may_go_back(env, regs->pc, caller->ra) &&
            chain_goes_on(env, regs->pc, fp));
}

static enum unwind_end go_by_fp(struct unwind_registers *regs, struct unwind_step *step,
                                const struct framed_caller *caller) {
    step->flags |= UNWIND_STEP_BY_FP | UNWIND_STEP_USES_FP;
    if (regs->exact || !caller->sp_known)
        step->flags |= UNWIND_STEP_OPAQUE;
    step->ra_at = caller->ra_at;
    step->ra_word = caller->ra_word;
    step->fp_at = caller->fp_at;
    regs->reg[ARCH_FP] = caller->fp;
    regs->known |= UNWIND_FP_KNOWN; /* as far as such code can be trusted */
    enum unwind_end end = unwind_to_caller(regs, step, caller->ra, caller->sp);
    if (!caller->sp_known)
        regs->known &= ~UNWIND_KNOWN(ARCH_SP);
    return end;
}

/* ---- by call ---- */

#define PUSHED_MAX 16u /* words that such a routine may have pushed below its return address */
#define PUSHED_FEW 3u

/* Where a register has the return address until the routine calls: then what is there follows a
 * call of such a routine, and is no part of one. */
static enum unwind_end step_by_link(const struct unwind_env *env,
                                    const struct unwind_module *module,
                                    struct unwind_registers *regs, struct unwind_step *step) {
    uint64_t ra = arch_unsigned(regs->reg[ARCH_LINK]);
    if (unwind_call_before(env, module, ra) < UNWIND_CALL_INDIRECT || !unwind_has_rule(env, ra - 1))
        return UNWIND_NO_RULE;
    step->flags |= UNWIND_STEP_OPAQUE;
    return unwind_to_caller(regs, step, ra, regs->reg[ARCH_SP]);
}

/* A routine in assembly keeps nothing on the stack but what it has pushed. So the first word above
 * the stack pointer that follows a call of such a routine is its return address; an indirect call
 * is believed on the first few words only. The frame pointer may be among what was pushed, unless
 * nothing was: then it may not be the caller's any more. */
static enum unwind_end step_by_call(const struct unwind_env *env,
                                    const struct unwind_module *module,
                                    struct unwind_registers *regs, struct unwind_step *step) {
    uint64_t sp = regs->reg[ARCH_SP], word;
    if (!regs->exact || (sp & 7) != 0)
        return UNWIND_NO_RULE;
    if (ARCH_HAS_LINK)
        return step_by_link(env, module, regs, step);
    for (uint64_t i = 0; i < PUSHED_MAX && unwind_read(env, sp + 8 * i, &word); i++) {
        enum unwind_evidence evidence = unwind_call_before(env, module, word);
        if (evidence < UNWIND_CALL_INDIRECT ||
            (evidence == UNWIND_CALL_INDIRECT && i >= PUSHED_FEW))
            continue;
        step->flags |= UNWIND_STEP_OPAQUE;
        step->ra_at = sp + 8 * i;
        if (i > 0)
            unwind_find_pushed_fp(env, regs, step->ra_at - 8);
        uint64_t perhaps = regs->known & UNWIND_FP_PERHAPS;
        enum unwind_end end = unwind_to_caller(regs, step, word, step->ra_at + 8);
        regs->known |= perhaps;
        return end;
    }
    return UNWIND_NO_RULE;
}

/* ---- all of them ---- */

/* The instructions tell for certain, where they can be followed; a call and the frame pointer tell
 * something; the stack is searched last. */
enum unwind_end unwind_bare_step(const struct unwind_env *env, const struct unwind_module *module,
                                 struct unwind_registers *regs, struct unwind_step *step) {
    uint64_t pc = regs->exact ? regs->pc : regs->pc - 1;
    struct framed_caller caller;
    enum unwind_end end = UNWIND_NO_RULE;
    step->routine = pc & ~(uint64_t)(UNWIND_CODE_BLOCK - 1);
    if (unwind_follow(env, module, regs, step))
        return UNWIND_STEPPED;
    if (module->table != NULL) /* an object without any unwind data is no assembly */
        end = step_by_call(env, module, regs, step);
    if (end == UNWIND_NO_RULE && find_by_fp(env, module, regs, &caller))
        end = go_by_fp(regs, step, &caller);
    if (end == UNWIND_NO_RULE && unwind_search(env, module, regs, step))
        end = UNWIND_STEPPED;
    return end;
}

/* Most makers of code keep the chain of frame pointers, which is cheap to try. Where it leads to
 * compiled code, it may be the frame pointer of that code's function, which has come through others
 * and through code that keeps none: then the instructions tell, if they can be followed. */
enum unwind_end unwind_generated_step(const struct unwind_env *env, struct unwind_registers *regs,
                                      struct unwind_step *step) {
    struct framed_caller caller;
    bool framed = find_by_fp(env, NULL, regs, &caller);
    if (!framed && !regs->exact && !unwind_is_return_address(env, regs->pc))
        return UNWIND_NO_MODULE;
    step->routine = regs->exact ? regs->pc : regs->pc - 1;
    if (framed && !unwind_has_rule(env, caller.ra - 1))
        return go_by_fp(regs, step, &caller);
    if (unwind_follow(env, NULL, regs, step))
        return UNWIND_STEPPED;
    if (framed)
        return go_by_fp(regs, step, &caller);
    return unwind_search(env, NULL, regs, step) ? UNWIND_STEPPED : UNWIND_NO_MODULE;
}
