/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_search.c - the first word above the stack pointer that follows a call and from which rules
 * lead on, from one such word to the next.
 *
 * A word that an earlier call has left on the stack may follow a call, too; but the place where the
 * rule of its function expects the next return address has other contents by then, most likely. A
 * call whose target can be read must go where this code is, as far as that is known.
 */
#include "preload/sample/unwind_search.h"

#include "preload/sample/unwind_evidence.h"
#include "preload/sample/unwind_inner.h"

#define WORDS_MAX 128u
#define LEADS_ON  3u /* callers that rules must find in a row */
#define ASKED     4u /* steps that are as dear as to ask which module has an address */

/* What goes on from a candidate by rules alone. */
enum lead { LEAD_ASTRAY, LEAD_SHORT, LEAD_FAR };

static enum lead lead_from(const struct unwind_env *given, uint64_t ra, uint64_t sp) {
    struct unwind_env env = *given;
    struct unwind_module module = {0};
    struct unwind_registers regs = {.pc = ra, .known = UNWIND_KNOWN(ARCH_SP)};
    struct unwind_step step;
    env.cache = NULL;
    regs.reg[ARCH_SP] = sp;
    for (unsigned i = 0; i < LEADS_ON; i++) {
        enum unwind_end end = unwind_ruled_step(&env, &module, &regs, &step);
        if (end == UNWIND_COMPLETE)
            return LEAD_FAR;
        if (end == UNWIND_BAD_STACK)
            return LEAD_ASTRAY;
        if (end != UNWIND_STEPPED) /* no rule here, or one that goes by a register */
            return LEAD_SHORT;
        if (!unwind_is_return_address(&env, regs.pc))
            return LEAD_ASTRAY;
    }
    return LEAD_FAR;
}

static bool is_good(const struct unwind_env *env, const struct unwind_module *module, uint64_t ra,
                    uint64_t sp) {
    if (!unwind_has_rule(env, ra - 1)) /* all that a search may end at */
        return false;
    enum unwind_evidence evidence = unwind_call_before(env, module, ra);
    if (evidence == UNWIND_CALL_NONE)
        return false;
    enum lead lead = lead_from(env, ra, sp);
    return lead == LEAD_FAR || (lead == LEAD_SHORT && evidence == UNWIND_CALL_DIRECT);
}

bool unwind_search(const struct unwind_env *env, const struct unwind_module *module,
                   struct unwind_registers *regs, struct unwind_step *step) {
    uint64_t sp = regs->reg[ARCH_SP], word;
    if (ARCH_HAS_LINK || (sp & 7) != 0)
        return false;
    for (uint64_t at = sp; at < sp + 8 * WORDS_MAX && unwind_read(env, at, &word); at += 8) {
        if (word <= ARCH_LOWEST_CODE || word >> ARCH_ADDRESS_BITS != 0 ||
            (word >= env->low && word < env->high))
            continue;
        step->effort += ASKED;
        if (!is_good(env, module, word, at + 8))
            continue;
        step->flags |= UNWIND_STEP_OPAQUE | UNWIND_STEP_SEARCHED;
        step->ra_at = at;
        if (at > sp)
            unwind_find_pushed_fp(env, regs, at - 8);
        uint64_t perhaps = regs->known & UNWIND_FP_PERHAPS;
        unwind_to_caller(regs, step, word, at + 8);
        regs->known |= perhaps;
        return true;
    }
    return false;
}
