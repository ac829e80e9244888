/*
 * unwind.c - one frame after the other: find the rule of the pc, apply it to the registers.
 *
 * What makes a walk safe on a stack that may be anything: each word comes through a checked read,
 * the stack pointer must rise with each frame (but for a signal frame, where stacks may switch),
 * and the number of frames is bounded. Return addresses are looked up at pc - 1, since a call may
 * be the last instruction of its function; an interrupted pc is looked up as it is.
 */
#include "preload/unwind.h"

#include <string.h>

#include "preload/unwind_usual.h"

#define KNOWN(n)  (1u << (n))
#define ALL_KNOWN ((uint32_t)((1ull << ARCH_REGS) - 1))

/* In registers.known: the frame pointer may have changed since, so no rule goes by it; but where
 * there is no rule, the chain of frame pointers is tried, which looks at what it finds. */
#define FP_PERHAPS (1u << 31)

/* Code without an unwind entry is told apart by blocks of so many bytes: functions are aligned. */
#define CODE_BLOCK 16u

#define LOWEST_CODE 0x10000u /* nothing is mapped below */

void unwind_registers_of(struct unwind_registers *regs, const ucontext_t *uc) {
    regs->pc = arch_pc(uc);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = arch_reg(uc, i);
    regs->known = ALL_KNOWN;
    regs->exact = true;
}

static bool read_word(const struct unwind_env *env, uint64_t address, uint64_t *word) {
    if (hcct_likely(address >= env->low && address < env->high - 7)) {
        *word = *(const uint64_t *)address;
        return true;
    }
    return env->read != NULL && env->read(env->arg, address, word);
}

/* ---- steps by rule ---- */

/* The canonical frame address. UNWIND_STEPPED, or why it can't be told. */
static enum unwind_end find_cfa(const struct unwind_env *env, const struct unwind_registers *regs,
                                const struct unwind_rule *rule, struct unwind_step *step,
                                uint64_t *cfa) {
    if (rule->cfa_reg >= ARCH_REGS)
        return UNWIND_NO_RULE;
    if (!(regs->known & KNOWN(rule->cfa_reg)))
        return UNWIND_RICH; /* one of the registers that only a full unwinder follows */
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
        if ((base & 7) != 0 || !read_word(env, base, &step->cfa_word))
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
    bool read = (step->fp_at & 7) == 0 && read_word(env, step->fp_at, &regs->reg[ARCH_FP]);
    return read ? UNWIND_STEPPED : UNWIND_BAD_STACK;
}

static bool find_ra(const struct unwind_env *env, const struct unwind_registers *regs,
                    const struct unwind_rule *rule, uint64_t cfa, struct unwind_step *step,
                    uint64_t *ra) {
    if (rule->ra == UNWIND_SAME && regs->exact && ARCH_HAS_LINK) {
        step->flags |= UNWIND_STEP_OPAQUE;
        *ra = regs->reg[ARCH_LINK];
        return true;
    }
    step->ra_at = cfa + (uint64_t)(int64_t)rule->ra_off;
    return rule->ra == UNWIND_AT_CFA && (step->ra_at & 7) == 0 && read_word(env, step->ra_at, ra);
}

/* regs is the caller's from here on: the return address and the stack pointer are known by rule. */
static enum unwind_end arrive(struct unwind_registers *regs, struct unwind_step *step, uint64_t ra,
                              uint64_t sp) {
    step->site = regs->pc = ra;
    regs->reg[ARCH_SP] = sp;
    regs->known &= UNWIND_CALLER_KNOWN;
    regs->exact = false;
    return hcct_likely(ra != 0) ? UNWIND_STEPPED : UNWIND_COMPLETE;
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
    return arrive(regs, step, ra, cfa);
}

/* The kernel's signal frame holds all registers of the interrupted code. */
static enum unwind_end step_signal(const struct unwind_env *env, struct unwind_registers *regs,
                                   struct unwind_step *step) {
    uint64_t at = regs->reg[ARCH_SP];
    step->flags |= UNWIND_STEP_OPAQUE;
    if ((at & 7) != 0 || !read_word(env, at + ARCH_SIGFRAME_PC, &regs->pc))
        return UNWIND_BAD_STACK;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (!read_word(env, at + ARCH_SIGFRAME_REG(i), &regs->reg[i]))
            return UNWIND_BAD_STACK;
    regs->known = ALL_KNOWN;
    regs->exact = true;
    step->site = regs->pc;
    return UNWIND_STEPPED;
}

/* ---- steps by frame pointer, in code that has no unwind data ---- */

/* The 16 bytes of code around `pc`, 8 on each side; zeros for the far ones where nothing is mapped.
 * Words of the stack often point into it, but there is no code. */
static bool read_code(const struct unwind_env *env, uint64_t pc, uint8_t code[16]) {
    uint64_t first = (pc - 8) & ~7ull, word[3] = {0};
    if (pc >= env->low && pc < env->high)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (!read_word(env, first + 8 * i, &word[i]) && i == 1)
            return false;
    memcpy(code, (const uint8_t *)word + ((pc - 8) & 7), 16);
    return true;
}

/* A return address comes after a call: what a stale or foreign word seldom does. */
static bool is_return_address(const struct unwind_env *env, uint64_t ra) {
    uint8_t code[16];
    return ra > LOWEST_CODE && read_code(env, ra, code) && arch_is_call_before(code + 8);
}

/* Generated code, and some written by hand, keeps the chain of frame pointers for its own use. The
 * instructions at an interrupted pc tell whether its frame is set up already. */
static enum unwind_end step_by_fp(const struct unwind_env *env, struct unwind_registers *regs,
                                  struct unwind_step *step, enum unwind_end otherwise) {
    enum arch_frame state = ARCH_FRAME_SET;
    uint8_t code[16];
    uint64_t sp = regs->reg[ARCH_SP], fp = regs->reg[ARCH_FP], ra;
    if (regs->exact) {
        step->flags |= UNWIND_STEP_OPAQUE;
        if (read_code(env, regs->pc, code))
            state = arch_frame_at(code + 8);
    }
    step->flags |= UNWIND_STEP_BY_FP | UNWIND_STEP_USES_FP;
    if (state == ARCH_FRAME_SET && (!(regs->known & (UNWIND_FP_KNOWN | FP_PERHAPS)) || fp < sp))
        return otherwise;
    uint64_t base = state == ARCH_FRAME_SET ? fp : sp;
    step->ra_at = state == ARCH_FRAME_NONE ? base : base + 8;
    step->fp_at = state == ARCH_FRAME_NONE ? 0 : base;
    if ((base & 7) != 0 || !read_word(env, step->ra_at, &ra) || !is_return_address(env, ra) ||
        (step->fp_at != 0 && !read_word(env, step->fp_at, &fp)))
        return otherwise;
    regs->reg[ARCH_FP] = fp;
    regs->known |= UNWIND_FP_KNOWN; /* as far as such code can be trusted */
    return arrive(regs, step, ra, step->ra_at + 8);
}

/* ---- rules by address ---- */

/* A context made by hand (makecontext) returns to the first instruction of a function: the address
 * before it belongs to nobody. */
static const struct unwind_row *lookup(const struct unwind_module *module, uint64_t pc,
                                       bool exact) {
    const struct unwind_row *row = unwind_lookup(module->table, pc - module->bias);
    if (hcct_unlikely(row != NULL && row->rule == UNWIND_RULE_NONE && !exact))
        row = unwind_lookup(module->table, pc + 1 - module->bias);
    return row != NULL && row->rule != UNWIND_RULE_NONE ? row : NULL;
}

/* ---- steps by call, in assembly of a module that has no unwind data ---- */

#define PUSHED_MAX 16u /* words that such a routine may have pushed below its return address */
#define PUSHED_FEW 3u

/* Whether `address` is code of `module` without a rule. */
static bool is_bare(const struct unwind_module *module, uint64_t address) {
    return address - module->start < module->end - module->start &&
           (module->table == NULL || lookup(module, address, true) == NULL);
}

/* How likely `ra` is the return address of a routine in bare code of `module`. */
enum call_evidence {
    CALL_NONE,
    CALL_INDIRECT, /* it follows a call that goes who knows where */
    CALL_DIRECT,   /* it follows a call of bare code of the module, if by way of a PLT entry */
};

static enum call_evidence call_before(const struct unwind_env *env,
                                      const struct unwind_module *module, uint64_t ra) {
    uint8_t code[16];
    uint64_t slot, target;
    if (ra <= LOWEST_CODE || !read_code(env, ra, code) || !arch_is_call_before(code + 8))
        return CALL_NONE;
    target = arch_call_target(code + 8, ra);
    if (target == 0)
        return CALL_INDIRECT;
    if (is_bare(module, target))
        return CALL_DIRECT;
    if (!read_code(env, target + 8, code)) /* the 16 bytes from the target on */
        return CALL_NONE;
    slot = arch_jump_slot(code, target);
    bool bare =
        slot != 0 && (slot & 7) == 0 && read_word(env, slot, &target) && is_bare(module, target);
    return bare ? CALL_DIRECT : CALL_NONE;
}

/* The caller's frame pointer, when `at` is the first word that a routine has pushed: it is there
 * when the routine's own frame pointer leads there, or has not changed since. */
static void find_pushed_fp(const struct unwind_env *env, struct unwind_registers *regs,
                           uint64_t at) {
    uint64_t word, fp = regs->reg[ARCH_FP];
    if (read_word(env, at, &word) && (fp == at || fp == word))
        regs->reg[ARCH_FP] = word;
    else
        regs->known = (regs->known & ~UNWIND_FP_KNOWN) | FP_PERHAPS;
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
    for (uint64_t i = 0; i < PUSHED_MAX && read_word(env, sp + 8 * i, &word); i++) {
        enum call_evidence evidence = call_before(env, module, word);
        if (evidence == CALL_NONE || (evidence == CALL_INDIRECT && i >= PUSHED_FEW))
            continue;
        step->flags |= UNWIND_STEP_OPAQUE;
        step->ra_at = sp + 8 * i;
        if (i > 0)
            find_pushed_fp(env, regs, step->ra_at - 8);
        uint32_t perhaps = regs->known & FP_PERHAPS;
        enum unwind_end end = arrive(regs, step, word, step->ra_at + 8);
        regs->known |= perhaps;
        return end;
    }
    return UNWIND_NO_RULE;
}

/* ---- one step ---- */

/* The new entry is first of its two, the one before it second. */
static void put_in_cache(struct unwind_cached *set, uint64_t key, uint64_t routine,
                         const struct unwind_rule *rule) {
    bool saved = rule->fp == UNWIND_AT_CFA, by_fp = rule->cfa_reg == ARCH_FP;
    int32_t fp_off = saved ? rule->fp_off : -8;
    bool usual = rule->cfa == UNWIND_CFA_REG && (by_fp || rule->cfa_reg == ARCH_SP) &&
                 rule->ra == UNWIND_AT_CFA && rule->ra_off == -8 &&
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

/* Code that no module covers may be generated code, or no code at all. */
static enum unwind_end step_outside(const struct unwind_env *env, struct unwind_registers *regs,
                                    struct unwind_step *step) {
    bool code = regs->exact || is_return_address(env, regs->pc);
    step->routine = !code ? 0 : regs->exact ? regs->pc : regs->pc - 1;
    return code ? step_by_fp(env, regs, step, UNWIND_NO_MODULE) : UNWIND_NO_MODULE;
}

/* The rule of the pc: NULL when there is none, and then how the step went without it. */
static const struct unwind_rule *find_rule(const struct unwind_env *env,
                                           struct unwind_module *module,
                                           struct unwind_registers *regs, struct unwind_step *step,
                                           enum unwind_end *end) {
    uint64_t pc = regs->exact ? regs->pc : regs->pc - 1;
    if (pc - module->start >= module->end - module->start && !env->find(env->arg, pc, module)) {
        *module = (struct unwind_module){0};
        *end = step_outside(env, regs, step);
        return NULL;
    }
    const struct unwind_row *row = module->table != NULL ? lookup(module, pc, regs->exact) : NULL;
    if (row == NULL) {
        step->routine = pc & ~(uint64_t)(CODE_BLOCK - 1);
        *end = UNWIND_PENDING;
        if (!module->pending)
            *end = step_by_call(env, module, regs, step);
        if (*end == UNWIND_NO_RULE)
            *end = step_by_fp(env, regs, step, UNWIND_NO_RULE);
        return NULL;
    }
    step->routine = module->bias + unwind_routine(module->table, row);
    return &unwind_rules(module->table)[row->rule];
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
        if (env->cache != NULL)
            put_in_cache(unwind_cache_set(env, key), key, step->routine, rule);
    }
    return hcct_unlikely(rule->cfa == UNWIND_CFA_SIGNAL) ? step_signal(env, regs, step)
                                                         : step_by_rule(env, regs, rule, step);
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
