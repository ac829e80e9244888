/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind.c - one frame after the other: find the rule of the pc, apply it to the registers.
 *
 * What makes a walk safe on a stack that may be anything: each word comes through a checked read,
 * the stack pointer must rise with each frame (but for a signal frame, where stacks may switch),
 * and the number of frames is bounded. Return addresses are looked up at pc - 1, since a call may
 * be the last instruction of its function; an interrupted pc is looked up as it is.
 */
#include "preload/sample/unwind.h"

#include <string.h>

#include "preload/sample/unwind_bare.h"
#include "preload/sample/unwind_evidence.h"
#include "preload/sample/unwind_inner.h"
#include "preload/sample/unwind_usual.h"

void unwind_registers_of(struct unwind_registers *regs, const ucontext_t *uc) {
    regs->pc = arch_pc(uc);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = arch_reg(uc, i);
    regs->known = ARCH_ALL_REGS;
    regs->exact = true;
}

/* ---- steps by rule ---- */

/* Of a caller whose stack pointer is not known. The frame pointer says where the caller has saved
 * the one before, if it did. */
static enum unwind_end cfa_without_sp(const struct unwind_env *env,
                                      const struct unwind_registers *regs,
                                      const struct unwind_rule *rule, struct unwind_step *step,
                                      uint64_t *cfa) {
    uint64_t by_sp = regs->reg[ARCH_SP] + (uint64_t)(int64_t)rule->cfa_off;
    uint64_t by_fp = regs->reg[ARCH_FP] - (uint64_t)(int64_t)rule->fp_off;
    bool framed = (regs->known & UNWIND_FP_KNOWN) != 0 && rule->fp == UNWIND_AT_CFA;
    if (rule->cfa != UNWIND_CFA_REG)
        return UNWIND_NO_RULE;
    step->flags |= UNWIND_STEP_USES_FP | UNWIND_STEP_OPAQUE;
    if (framed && by_fp >= by_sp && unwind_on_stack(env, by_fp - 8))
        *cfa = by_fp;
    else if ((regs->known & UNWIND_SP_PERHAPS) != 0)
        *cfa = by_sp;
    else
        return UNWIND_NO_RULE;
    return UNWIND_STEPPED;
}

/* The canonical frame address. UNWIND_STEPPED, or why it is not known. */
static enum unwind_end find_cfa(const struct unwind_env *env, const struct unwind_registers *regs,
                                const struct unwind_rule *rule, struct unwind_step *step,
                                uint64_t *cfa) {
    if (rule->cfa_reg >= ARCH_REGS)
        return UNWIND_NO_RULE;
    if (rule->cfa_reg == ARCH_SP && !(regs->known & UNWIND_KNOWN(ARCH_SP)))
        return cfa_without_sp(env, regs, rule, step, cfa);
    if (!(regs->known & UNWIND_KNOWN(rule->cfa_reg))) /* others only a full unwinder follows */
        return rule->cfa_reg == ARCH_FP ? UNWIND_NO_RULE : UNWIND_RICH;
    if (rule->cfa_reg == ARCH_FP)
        step->flags |= UNWIND_STEP_USES_FP;
    else if (rule->cfa_reg != ARCH_SP)
        step->flags |= UNWIND_STEP_OPAQUE;
    uint64_t base = regs->reg[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_off;
    switch (rule->cfa) {
    case UNWIND_CFA_REG:
        *cfa = base;
        return UNWIND_STEPPED;
    case UNWIND_CFA_DEREF:
        if ((base & 7) != 0 || !unwind_read(env, base, &step->cfa_word))
            return UNWIND_BAD_STACK;
        step->cfa_at = base;
        *cfa = step->cfa_word + (uint64_t)(int64_t)rule->cfa_add;
        return UNWIND_STEPPED;
    case UNWIND_CFA_PLT:
        *cfa = regs->reg[ARCH_SP] + 8 + ((int64_t)(regs->pc & 15) >= rule->cfa_off ? 8 : 0);
        return UNWIND_STEPPED;
    case UNWIND_CFA_RICH:
        return UNWIND_RICH;
    default:
        return UNWIND_NO_RULE;
    }
}

static enum unwind_end restore_fp(const struct unwind_env *env, struct unwind_registers *regs,
                                  const struct unwind_rule *rule, uint64_t cfa,
                                  struct unwind_step *step) {
    uint64_t base = cfa;
    switch (rule->fp) {
    case UNWIND_SAME:
        step->flags |= UNWIND_STEP_PASSES_FP;
        return UNWIND_STEPPED;
    case UNWIND_AT_CFA:
        break;
    case UNWIND_AT_REG:
        step->flags |= UNWIND_STEP_USES_FP;
        if (!(regs->known & UNWIND_FP_KNOWN)) {
            step->flags |= UNWIND_STEP_OPAQUE; /* had it been known, a word would have been read */
            return UNWIND_STEPPED;
        }
        base = regs->reg[ARCH_FP];
        break;
    default:
        regs->known &= ~UNWIND_FP_KNOWN;
        return UNWIND_STEPPED;
    }
    step->fp_at = base + (uint64_t)(int64_t)rule->fp_off;
    regs->known |= UNWIND_FP_KNOWN;
    bool read = (step->fp_at & 7) == 0 && unwind_read(env, step->fp_at, &regs->reg[ARCH_FP]);
    return read ? UNWIND_STEPPED : UNWIND_BAD_STACK;
}

static bool find_ra(const struct unwind_env *env, const struct unwind_registers *regs,
                    const struct unwind_rule *rule, uint64_t cfa, struct unwind_step *step,
                    uint64_t *ra) {
    if (rule->ra == UNWIND_SAME && regs->exact && ARCH_HAS_LINK) {
        step->flags |= UNWIND_STEP_OPAQUE;
        *ra = arch_unsigned(regs->reg[ARCH_LINK]);
        return true;
    }
    step->ra_at = cfa + (uint64_t)(int64_t)rule->ra_off;
    if ((rule->ra != UNWIND_AT_CFA && rule->ra != UNWIND_REPLACED) || (step->ra_at & 7) != 0 ||
        !unwind_read(env, step->ra_at, &step->ra_word))
        return false;
    *ra = arch_unsigned(step->ra_word);
    return true;
}

static enum unwind_end step_by_rule(const struct unwind_env *env, struct unwind_registers *regs,
                                    const struct unwind_rule *rule, struct unwind_step *step) {
    uint64_t cfa, ra;
    if (rule->ra == UNWIND_UNDEFINED)
        return UNWIND_COMPLETE;
    enum unwind_end end = find_cfa(env, regs, rule, step, &cfa);
    if (end != UNWIND_STEPPED)
        return end;
    if ((cfa & 7) != 0 || cfa < regs->reg[ARCH_SP] + unwind_least_frame(regs->exact) ||
        !find_ra(env, regs, rule, cfa, step, &ra))
        return UNWIND_BAD_STACK;
    end = restore_fp(env, regs, rule, cfa, step);
    if (end != UNWIND_STEPPED)
        return end;
    end = unwind_to_caller(regs, step, ra, cfa);
    if (hcct_unlikely(rule->ra == UNWIND_REPLACED)) {
        step->flags |= UNWIND_STEP_OPAQUE;
        regs->known = (regs->known & ~UNWIND_KNOWN(ARCH_SP)) | UNWIND_SP_PERHAPS;
    }
    return end;
}

/* The kernel's signal frame holds all registers of the interrupted code. */
static enum unwind_end step_signal(const struct unwind_env *env, struct unwind_registers *regs,
                                   struct unwind_step *step) {
    uint64_t at = regs->reg[ARCH_SP];
    step->flags |= UNWIND_STEP_OPAQUE;
    if ((at & 7) != 0 || !unwind_read(env, at + ARCH_SIGFRAME_PC, &regs->pc))
        return UNWIND_BAD_STACK;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (!unwind_read(env, at + ARCH_SIGFRAME_REG(i), &regs->reg[i]))
            return UNWIND_BAD_STACK;
    regs->known = ARCH_ALL_REGS;
    regs->exact = true;
    step->site = regs->pc;
    return UNWIND_STEPPED;
}

/* ---- one step ---- */

/* The new entry is first of its two, the one before it second. */
static void put_in_cache(struct unwind_cached *set, uint64_t key, uint64_t routine,
                         const struct unwind_rule *rule) {
    bool saved = rule->fp == UNWIND_AT_CFA, by_fp = rule->cfa_reg == ARCH_FP;
    int64_t fp_off = saved ? rule->fp_off : arch_usual_fp(rule->ra_off);
    bool usual = rule->cfa == UNWIND_CFA_REG && (by_fp || rule->cfa_reg == ARCH_SP) &&
                 rule->ra == UNWIND_AT_CFA && arch_is_usual(rule->ra_off, fp_off) &&
                 (saved || rule->fp == UNWIND_SAME) && fp_off == (int16_t)fp_off;
    unsigned flags = UNWIND_STEP_CACHED | (by_fp ? UNWIND_STEP_USES_FP : 0) |
                     (saved ? 0 : UNWIND_STEP_PASSES_FP);
    set[1] = set[0];
    set[0] = (struct unwind_cached){.key = key,
                                    .routine = routine,
                                    .rule = rule,
                                    .cfa_off = rule->cfa_off,
                                    .fp_off = (int16_t)fp_off,
                                    .flags = (uint16_t)(usual ? flags : 0)};
}

/* A context made by hand (makecontext) returns to the first instruction of a routine, before which
 * there is nobody's code: its first function is entered by no call, and ends the walk. */
static const struct unwind_row *root_of_context(const struct unwind_module *module,
                                                const struct unwind_registers *regs) {
    const struct unwind_row *row = regs->exact ? NULL : unwind_row_at(module, regs->pc);
    return row != NULL && module->bias + unwind_routine(module->table, row) == regs->pc ? row
                                                                                        : NULL;
}

/* Where a handler returns to. */
static bool is_sigreturn(const struct unwind_env *env, uint64_t pc) {
    uint8_t code[16];
    return unwind_read_code(env, pc, code) && arch_is_sigreturn(code + 8);
}

/* The rule of the pc: NULL when there is none, and then how the step went without it. */
static const struct unwind_rule *find_rule(const struct unwind_env *env,
                                           struct unwind_module *module,
                                           struct unwind_registers *regs, struct unwind_step *step,
                                           enum unwind_end *end) {
    uint64_t pc = regs->exact ? regs->pc : regs->pc - 1;
    if (pc - module->start >= module->end - module->start && !env->find(env->arg, pc, module)) {
        *module = (struct unwind_module){0};
        step->flags |= UNWIND_STEP_BARE;
        *end = unwind_generated_step(env, regs, step);
        return NULL;
    }
    const struct unwind_row *row = unwind_row_at(module, pc);
    if (hcct_likely(row != NULL)) {
        step->routine = module->bias + unwind_routine(module->table, row);
        return &unwind_rules(module->table)[row->rule];
    }
    if (root_of_context(module, regs) != NULL) {
        step->routine = regs->pc;
        *end = UNWIND_COMPLETE;
    } else if (module->pending) {
        step->routine = pc;
        *end = UNWIND_PENDING;
    } else if (is_sigreturn(env, regs->pc)) {
        step->routine = regs->pc;
        *end = step_signal(env, regs, step);
    } else {
        step->flags |= UNWIND_STEP_BARE;
        *end = unwind_bare_step(env, module, regs, step);
    }
    return NULL;
}

static enum unwind_end step_by(const struct unwind_env *env, struct unwind_registers *regs,
                               const struct unwind_rule *rule, struct unwind_step *step) {
    return hcct_unlikely(rule->cfa == UNWIND_CFA_SIGNAL) ? step_signal(env, regs, step)
                                                         : step_by_rule(env, regs, rule, step);
}

enum unwind_end unwind_ruled_step(const struct unwind_env *env, struct unwind_module *module,
                                  struct unwind_registers *regs, struct unwind_step *step) {
    uint64_t pc = regs->exact ? regs->pc : regs->pc - 1;
    memset(step, 0, sizeof *step);
    if (pc - module->start >= module->end - module->start && !env->find(env->arg, pc, module)) {
        *module = (struct unwind_module){0};
        return UNWIND_NO_RULE;
    }
    const struct unwind_row *row = unwind_row_at(module, pc);
    if (row == NULL)
        return root_of_context(module, regs) != NULL ? UNWIND_COMPLETE : UNWIND_NO_RULE;
    return step_by(env, regs, &unwind_rules(module->table)[row->rule], step);
}

enum unwind_end unwind_step(const struct unwind_env *env, struct unwind_module *module,
                            struct unwind_registers *regs, struct unwind_step *step) {
    const struct unwind_rule *rule;
    enum unwind_end end = UNWIND_STEPPED;
    uint64_t key = unwind_cache_key(regs->pc, regs->exact);
    const struct unwind_cached *hit = env->cache != NULL ? unwind_cache_get(env, key) : NULL;
    memset(step, 0, sizeof *step);
    if (hit != NULL) {
        rule = hit->rule;
        step->routine = hit->routine;
        step->flags = UNWIND_STEP_CACHED;
    } else {
        rule = find_rule(env, module, regs, step, &end);
        if (rule == NULL)
            return end;
        if (env->cache != NULL && !regs->exact) /* an interrupted pc seldom comes again */
            put_in_cache(unwind_cache_set(env, key), key, step->routine, rule);
    }
    return step_by(env, regs, rule, step);
}

/* As many usual steps as there are. */
static uint32_t walk_usual(const struct unwind_env *env, struct unwind_registers *regs,
                           struct unwind_frame *frames, uint32_t n, uint32_t room) {
    struct unwind_place at = unwind_place_of(regs);
    struct unwind_step step;
    for (; n < room && unwind_usual(env, &at, &step); n++)
        frames[n] = (struct unwind_frame){step.routine, step.site};
    unwind_arrive(regs, &at);
    return n;
}

enum unwind_end unwind_walk(const struct unwind_env *env, struct unwind_registers *regs,
                            struct unwind_frame *frames, uint32_t room, uint32_t *n) {
    struct unwind_module module = {0};
    struct unwind_step step;
    for (*n = 0; *n < room;) {
        enum unwind_end end = unwind_step(env, &module, regs, &step);
        if (step.routine != 0)
            frames[(*n)++] = (struct unwind_frame){step.routine, step.site};
        if (end != UNWIND_STEPPED)
            return end;
        if (env->cache != NULL && !regs->exact)
            *n = walk_usual(env, regs, frames, *n, room);
    }
    return UNWIND_TRUNCATED;
}
