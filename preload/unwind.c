/*
 * unwind.c - one frame after the other: find the rule of the pc, apply it to the registers.
 *
 * What makes a walk safe on a stack that may be anything: each word comes through a checked read,
 * the stack pointer must rise with each frame (but for a signal frame, where stacks may switch),
 * and the number of frames is bounded. Return addresses are looked up at pc - 1, since a call may
 * be the last instruction of its function; an interrupted pc is looked up as it is.
 */
#include "preload/unwind.h"

#define KNOWN(n) (1u << (n))

void unwind_registers_of(struct unwind_registers *regs, const ucontext_t *uc) {
    regs->pc = arch_pc(uc);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        regs->reg[i] = arch_reg(uc, i);
    regs->known = (uint32_t)((1ull << ARCH_REGS) - 1);
}

static bool read_word(const struct unwind_env *env, uint64_t address, uint64_t *word) {
    if (hcct_likely(address >= env->low && address < env->high - 7)) {
        *word = *(const uint64_t *)address;
        return true;
    }
    return env->read != NULL && env->read(env->arg, address, word);
}

/* The canonical frame address: 0 when the rule can't tell. */
static bool find_cfa(const struct unwind_env *env, const struct unwind_registers *regs,
                     const struct unwind_rule *rule, uint64_t *cfa, enum unwind_end *end) {
    *end = UNWIND_NO_RULE;
    if (rule->cfa_reg >= ARCH_REGS || !(regs->known & KNOWN(rule->cfa_reg)))
        return false;
    uint64_t base = regs->reg[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_off;
    switch (rule->cfa) {
    case UNWIND_CFA_REG:
        *cfa = base;
        return true;
    case UNWIND_CFA_DEREF:
        *end = UNWIND_BAD_STACK;
        if ((base & 7) != 0 || !read_word(env, base, cfa))
            return false;
        *cfa += (uint64_t)(int64_t)rule->cfa_add;
        return true;
    case UNWIND_CFA_PLT:
        *cfa = regs->reg[ARCH_SP] + 8 + ((int64_t)(regs->pc & 15) >= rule->cfa_off ? 8 : 0);
        return true;
    default:
        return false;
    }
}

/* The kernel's signal frame holds all registers of the interrupted code. */
static bool step_signal(const struct unwind_env *env, struct unwind_registers *regs) {
    uint64_t at = regs->reg[ARCH_SP];
    if ((at & 7) != 0 || !read_word(env, at + ARCH_SIGFRAME_PC, &regs->pc))
        return false;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (!read_word(env, at + ARCH_SIGFRAME_REG(i), &regs->reg[i]))
            return false;
    regs->known = (uint32_t)((1ull << ARCH_REGS) - 1);
    return true;
}

static bool restore_fp(const struct unwind_env *env, struct unwind_registers *regs,
                       const struct unwind_rule *rule, uint64_t cfa) {
    uint64_t at;
    switch (rule->fp) {
    case UNWIND_SAME:
        return true;
    case UNWIND_AT_CFA:
        at = cfa + (uint64_t)(int64_t)rule->fp_off;
        break;
    case UNWIND_AT_REG:
        if (!(regs->known & KNOWN(ARCH_FP)))
            return true;
        at = regs->reg[ARCH_FP] + (uint64_t)(int64_t)rule->fp_off;
        break;
    default:
        regs->known &= ~KNOWN(ARCH_FP);
        return true;
    }
    regs->known |= KNOWN(ARCH_FP);
    return (at & 7) == 0 && read_word(env, at, &regs->reg[ARCH_FP]);
}

/* To the caller's registers. `ra` is the return address, 0 at the outermost frame. */
static bool step(const struct unwind_env *env, struct unwind_registers *regs,
                 const struct unwind_rule *rule, bool innermost, uint64_t *ra,
                 enum unwind_end *end) {
    uint64_t cfa;
    if (rule->ra == UNWIND_UNDEFINED) {
        *ra = 0;
        return true;
    }
    if (!find_cfa(env, regs, rule, &cfa, end))
        return false;
    *end = UNWIND_BAD_STACK;
    uint64_t least = ARCH_CALL_BYTES != 0 ? ARCH_CALL_BYTES : !innermost;
    if ((cfa & 7) != 0 || cfa < regs->reg[ARCH_SP] + least)
        return false;
    uint64_t caller;
    if (rule->ra == UNWIND_SAME && innermost && ARCH_HAS_LINK)
        caller = regs->reg[ARCH_LINK];
    else if (rule->ra != UNWIND_AT_CFA ||
             !read_word(env, cfa + (uint64_t)(int64_t)rule->ra_off, &caller))
        return false;
    if (!restore_fp(env, regs, rule, cfa))
        return false;
    *ra = caller;
    regs->reg[ARCH_SP] = cfa;
    regs->pc = *ra;
    regs->known &= KNOWN(ARCH_SP) | KNOWN(ARCH_FP);
    return true;
}

/* A context made by hand (makecontext) returns to the first instruction of a function: the address
 * before it belongs to nobody. */
static const struct unwind_row *lookup(const struct unwind_module *module, uint64_t pc,
                                       bool exact) {
    const struct unwind_row *row = unwind_lookup(module->table, pc - module->bias);
    if (hcct_unlikely(row != NULL && row->rule == UNWIND_RULE_NONE && !exact))
        row = unwind_lookup(module->table, pc + 1 - module->bias);
    return row;
}

enum unwind_end unwind_walk(const struct unwind_env *env, struct unwind_registers *regs,
                            struct unwind_frame *frames, uint32_t room, uint32_t *n) {
    struct unwind_module module = {0};
    bool exact = true; /* the pc is where the program was interrupted, not a return address */
    for (*n = 0; *n < room;) {
        uint64_t pc = exact ? regs->pc : regs->pc - 1;
        if (pc - module.start >= module.end - module.start && !env->find(env->arg, pc, &module))
            return UNWIND_NO_MODULE;
        if (module.table == NULL)
            return module.pending ? UNWIND_PENDING : UNWIND_NO_RULE;
        const struct unwind_row *row = lookup(&module, pc, exact);
        if (row == NULL || row->rule == UNWIND_RULE_NONE)
            return UNWIND_NO_RULE;
        const struct unwind_rule *rule = &unwind_rules(module.table)[row->rule];
        struct unwind_frame *frame = &frames[*n];
        frame->routine = module.bias + unwind_routine(module.table, row);
        frame->site = 0; /* until its caller is found */
        (*n)++;
        if (rule->cfa == UNWIND_CFA_SIGNAL) {
            if (!step_signal(env, regs))
                return UNWIND_BAD_STACK;
            frame->site = regs->pc;
            exact = true;
            continue;
        }
        enum unwind_end end;
        if (!step(env, regs, rule, exact, &frame->site, &end))
            return end;
        if (frame->site == 0)
            return UNWIND_COMPLETE;
        exact = false;
    }
    return UNWIND_TRUNCATED;
}
