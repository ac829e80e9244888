/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_usual.h - the step that nearly all steps are, made to be fast: from a return address whose
 * rule is in the cache, to a frame at a fixed distance from stack pointer or frame pointer, on the
 * thread's own stack. Private to the walks (unwind.c, memo.c).
 *
 * All state is a few local variables; and whether a routine saves the frame pointer follows no
 * pattern that a processor could predict, so that there is no branch on it.
 */
#ifndef HCCT_UNWIND_USUAL_H
#define HCCT_UNWIND_USUAL_H

#include "preload/sample/unwind_types.h"

#define UNWIND_SP_KNOWN     (1ull << ARCH_SP)
#define UNWIND_CALLER_KNOWN (UNWIND_SP_KNOWN | UNWIND_FP_KNOWN)

/* The registers of a caller. No others survive a step. */
struct unwind_place {
    uint64_t pc, sp, fp;
    uint64_t known; /* as in struct unwind_registers */
};

static inline uint64_t unwind_cache_key(uint64_t pc, bool exact) {
    return pc << 1 | exact;
}

/* The two entries where a key may be. */
static inline struct unwind_cached *unwind_cache_set(const struct unwind_env *env, uint64_t key) {
    return &env->cache[(key * 0x9e3779b97f4a7c15ull >> (65 - UNWIND_CACHE_BITS)) * 2];
}

/* The entry of a key, or NULL. */
static inline const struct unwind_cached *unwind_cache_get(const struct unwind_env *env,
                                                           uint64_t key) {
    const struct unwind_cached *set = unwind_cache_set(env, key);
    if (hcct_likely(set[0].key == key))
        return &set[0];
    return set[1].key == key ? &set[1] : NULL;
}

/* The stack pointer rises with each frame, by what a call has left; but for a function that has not
 * called yet, where that is nothing. */
static inline uint64_t unwind_least_frame(bool exact) {
    return ARCH_CALL_BYTES != 0 ? ARCH_CALL_BYTES : !exact;
}

static inline bool unwind_on_stack(const struct unwind_env *env, uint64_t address) {
    return address >= env->low && address < env->high - 7;
}

/* One step from a return address. False: it is another kind of step, and nothing has changed but
 * *step. */
static inline bool unwind_usual(const struct unwind_env *env, struct unwind_place *at,
                                struct unwind_step *step) {
    const struct unwind_cached *c = unwind_cache_get(env, unwind_cache_key(at->pc, false));
    if (c == NULL || c->flags == 0)
        return false;
    uint64_t by_fp = (c->flags & UNWIND_STEP_USES_FP) != 0 ? UINT64_MAX : 0;
    uint64_t passes = (c->flags & UNWIND_STEP_PASSES_FP) != 0 ? UINT64_MAX : 0;
    uint64_t cfa = ((at->fp & by_fp) | (at->sp & ~by_fp)) + (uint64_t)(int64_t)c->cfa_off;
    uint64_t fp_at = cfa + (uint64_t)(int64_t)c->fp_off, ra_at = arch_usual_ra_at(cfa, fp_at);
    if (((cfa | fp_at) & 7) != 0 || cfa < at->sp + unwind_least_frame(false) ||
        !unwind_on_stack(env, ra_at) || !unwind_on_stack(env, fp_at) ||
        (((UNWIND_FP_KNOWN & by_fp) | (UNWIND_SP_KNOWN & ~by_fp)) & ~at->known) != 0)
        return false;
    uint64_t word = *(const uint64_t *)ra_at, ra = arch_unsigned(word);
    if (ra == 0)
        return false;
    *step = (struct unwind_step){.routine = c->routine,
                                 .site = ra,
                                 .ra_word = word,
                                 .ra_at = ra_at,
                                 .fp_at = fp_at & ~passes,
                                 .flags = c->flags};
    at->pc = ra;
    at->sp = cfa;
    at->fp = (at->fp & passes) | (*(const uint64_t *)fp_at & ~passes);
    at->known = (at->known & UNWIND_FP_KNOWN) | UNWIND_SP_KNOWN | (UNWIND_FP_KNOWN & ~passes);
    return true;
}

/* From and to all registers; those of a place are never exact. */
static inline struct unwind_place unwind_place_of(const struct unwind_registers *regs) {
    return (struct unwind_place){regs->pc, regs->reg[ARCH_SP], regs->reg[ARCH_FP], regs->known};
}

static inline void unwind_arrive(struct unwind_registers *regs, const struct unwind_place *at) {
    regs->pc = at->pc;
    regs->reg[ARCH_SP] = at->sp;
    regs->reg[ARCH_FP] = at->fp;
    regs->known = at->known;
}

#endif
