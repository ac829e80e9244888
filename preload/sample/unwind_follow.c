/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_follow.c - goes through the instructions from the pc on, as the processor may, and keeps
 * account of the stack pointer and of the registers and words whose values are known, until an
 * instruction returns.
 *
 * At a given instruction of a function the stack has one height, whichever way led there. So any
 * way to a return will do: at a branch the next instruction is tried first, the other way when
 * that leads nowhere, and no branch is passed twice. A way may still be one that the program never
 * takes (on from a call that does not return): what is found must be a return address.
 */
#include "preload/sample/unwind_follow.h"

#include <string.h>

#include "preload/sample/instruction.h"
#include "preload/sample/unwind_evidence.h"
#include "preload/sample/unwind_inner.h"

/* Instructions: the unrolled loops of codecs are long. Generated code that is not followed soon is
 * part of a loop without a return. */
#define STEPS_MAX      1024u
#define GENERATED_MAX  512u
#define STEPS_A_EFFORT 2u /* so many are as dear as a step of the walk */
#define WAYS_MAX       8u /* branches not taken yet */
#define STORED_MAX     12u
#define PASSED         32u
#define WINDOW         64u
#define NEAR_STACK     1048576u /* a word further from the stack pointer is not kept account of */

/* A word that the code writes on its way. */
struct stored {
    uint64_t address, value;
    bool known;
};

/* The other side of a branch. Of the registers, those are known that were never changed. */
struct way {
    uint64_t pc, sp, fp;
    uint64_t known;
    uint32_t stored;
};

struct follow {
    const struct unwind_env *env;
    const struct unwind_module *module;
    const struct unwind_registers *from;
    uint64_t pc, sp_from;
    uint64_t reg[ARCH_REGS];
    uint64_t known, unchanged;
    uint32_t n_stored, n_ways, steps;
    uint64_t window; /* address of the code in bytes[]; 0: none */
    uint32_t passed[PASSED];
    struct stored stored[STORED_MAX];
    struct way way[WAYS_MAX];
    uint8_t bytes[WINDOW];
};

_Static_assert(sizeof(struct follow) <= UNWIND_SCRATCH_WORDS * 8, "it has room");

enum course { COURSE_ON, COURSE_RETURN, COURSE_LOST };

/* ---- code ---- */

/* INSTRUCTION_BYTES of code at the pc; zeros for what is not mapped. */
static const uint8_t *code_at_pc(struct follow *f) {
    uint64_t first = f->pc & ~7ull, word;
    if (f->window != 0 && f->pc >= f->window && f->pc + INSTRUCTION_BYTES <= f->window + WINDOW)
        return f->bytes + (f->pc - f->window);
    if (f->pc <= ARCH_LOWEST_CODE || (f->pc >= f->env->low && f->pc < f->env->high))
        return NULL;
    memset(f->bytes, 0, sizeof f->bytes);
    for (unsigned i = 0; i < WINDOW / 8; i++) {
        if (!unwind_read(f->env, first + 8 * i, &word)) {
            if (i == 0)
                return NULL;
            break;
        }
        memcpy(f->bytes + 8 * i, &word, sizeof word);
    }
    f->window = first;
    return f->bytes + (f->pc - first);
}

/* ---- registers and words ---- */

static bool is_known(const struct follow *f, unsigned reg) {
    return reg < ARCH_REGS && (f->known & UNWIND_KNOWN(reg)) != 0;
}

static void set(struct follow *f, unsigned reg, bool known, uint64_t value) {
    if (reg >= ARCH_REGS)
        return;
    f->unchanged &= ~UNWIND_KNOWN(reg);
    f->known = known ? f->known | UNWIND_KNOWN(reg) : f->known & ~UNWIND_KNOWN(reg);
    f->reg[reg] = value;
}

static bool is_near(const struct follow *f, uint64_t address) {
    return (address & 7) == 0 && address - f->sp_from + NEAR_STACK < 2 * NEAR_STACK;
}

static bool load(const struct follow *f, uint64_t address, uint64_t *value) {
    if (!is_near(f, address))
        return false;
    for (uint32_t i = f->n_stored; i-- > 0;)
        if (f->stored[i].address == address) {
            *value = f->stored[i].value;
            return f->stored[i].known;
        }
    return unwind_read(f->env, address, value);
}

/* False: there is no room to keep account of it. */
static bool store(struct follow *f, uint64_t address, bool known, uint64_t value) {
    address &= ~7ull;
    if (!is_near(f, address))
        return true;
    if (f->n_stored == STORED_MAX)
        return false;
    f->stored[f->n_stored++] = (struct stored){address, value, known};
    return true;
}

static bool address_of(const struct follow *f, const struct instruction *in, uint64_t *address) {
    *address = (uint64_t)in->displacement;
    if (in->base != INSTRUCTION_NONE) {
        if (!is_known(f, in->base))
            return false;
        *address += f->reg[in->base];
    }
    if (in->index != INSTRUCTION_NONE) {
        if (!is_known(f, in->index))
            return false;
        *address += f->reg[in->index] << in->scale;
    }
    return true;
}

/* ---- ways ---- */

/* Whether this branch or jump was passed before; from now on it was. */
static bool pass(struct follow *f) {
    uint32_t *passed = &f->passed[(f->pc ^ f->pc >> 5) % PASSED];
    bool before = *passed == (uint32_t)f->pc;
    *passed = (uint32_t)f->pc;
    return before;
}

static void keep_way(struct follow *f, uint64_t pc) {
    uint64_t kept = f->unchanged | UNWIND_KNOWN(ARCH_SP) | UNWIND_FP_KNOWN;
    if (f->n_ways == WAYS_MAX)
        return;
    f->way[f->n_ways++] = (struct way){.pc = pc,
                                       .sp = f->reg[ARCH_SP],
                                       .fp = f->reg[ARCH_FP],
                                       .known = f->known & kept,
                                       .stored = f->n_stored};
}

/* A jump may be the last thing that a function does: into the first instruction of another that has
 * a rule, where the return address is on top of the stack. The middle of such code is not followed:
 * nothing tells how it stands to this code. */
static enum course arrive(struct follow *f, uint64_t pc) {
    struct unwind_module other = {0};
    const struct unwind_module *at = f->module;
    f->pc = pc;
    if (at == NULL || pc - at->start >= at->end - at->start) {
        if (!f->env->find(f->env->arg, pc, &other))
            return COURSE_ON;
        at = &other;
    }
    const struct unwind_row *row = unwind_row_at(at, pc);
    if (row == NULL)
        return COURSE_ON;
    return at->bias + unwind_routine(at->table, row) == pc ? COURSE_RETURN : COURSE_LOST;
}

static enum course next_way(struct follow *f) {
    enum course course = COURSE_LOST;
    while (course == COURSE_LOST && f->n_ways > 0) {
        const struct way *way = &f->way[--f->n_ways];
        memcpy(f->reg, f->from->reg, sizeof f->reg);
        f->reg[ARCH_SP] = way->sp;
        f->reg[ARCH_FP] = way->fp;
        f->known = way->known;
        f->unchanged = f->known & ~(UNWIND_KNOWN(ARCH_SP) | UNWIND_FP_KNOWN);
        f->n_stored = way->stored;
        course = arrive(f, way->pc);
    }
    return course;
}

/* ---- instructions ---- */

static enum course push(struct follow *f, bool known, uint64_t value) {
    f->reg[ARCH_SP] -= 8;
    return store(f, f->reg[ARCH_SP], known, value) ? COURSE_ON : COURSE_LOST;
}

static void pop(struct follow *f, unsigned reg) {
    uint64_t value = 0;
    bool known = load(f, f->reg[ARCH_SP], &value);
    f->reg[ARCH_SP] += 8;
    set(f, reg, known, value);
}

/* The value that an instruction gives to its register. False: it is not known. */
static bool result_of(const struct follow *f, const struct instruction *in, uint64_t *value) {
    unsigned from;
    switch (in->kind) {
    case INSTRUCTION_MOVE:
        *value = in->from < ARCH_REGS ? f->reg[in->from] : 0;
        return is_known(f, in->from);
    case INSTRUCTION_LEA:
        return address_of(f, in, value);
    case INSTRUCTION_ADD:
        *value = f->reg[in->reg] + (uint64_t)in->value;
        return is_known(f, in->reg);
    case INSTRUCTION_AND:
        from = in->from < ARCH_REGS ? in->from : in->reg;
        *value = f->reg[from] & (uint64_t)in->value;
        return is_known(f, from);
    default:
        return false;
    }
}

static bool store_register(struct follow *f, uint64_t address, unsigned reg) {
    bool known = is_known(f, reg);
    return store(f, address, known, known ? f->reg[reg] : 0);
}

static enum course store_operand(struct follow *f, const struct instruction *in) {
    uint64_t address;
    if (!address_of(f, in, &address))
        return COURSE_ON; /* not where return addresses and saved registers are */
    bool stored = store_register(f, address, in->from) &&
                  (!in->is_pair || store_register(f, address + 8, in->pair));
    return stored ? COURSE_ON : COURSE_LOST;
}

static void load_operand(struct follow *f, const struct instruction *in) {
    uint64_t address = 0, value = 0;
    bool found = address_of(f, in, &address);
    bool known = found && load(f, address, &value);
    set(f, in->reg, known, value);
    if (!in->is_pair)
        return;
    known = found && load(f, address + 8, &value);
    set(f, in->pair, known, value);
}

static void forget(struct follow *f, uint64_t registers) {
    f->known &= ~registers;
    f->unchanged &= ~registers;
}

/* Instructions after which the next one follows. */
static enum course compute(struct follow *f, const struct instruction *in) {
    enum course course = COURSE_ON;
    uint64_t value = 0;
    bool known;
    switch (in->kind) {
    case INSTRUCTION_PUSH:
        known = is_known(f, in->reg);
        course = push(f, known, known ? f->reg[in->reg] : 0);
        break;
    case INSTRUCTION_POP:
        pop(f, in->reg);
        break;
    case INSTRUCTION_LEAVE:
        set(f, ARCH_SP, is_known(f, ARCH_FP), f->reg[ARCH_FP]);
        pop(f, ARCH_FP);
        break;
    case INSTRUCTION_STORE:
        course = store_operand(f, in);
        forget(f, in->writes);
        break;
    case INSTRUCTION_LOAD:
        load_operand(f, in);
        break;
    case INSTRUCTION_CALL:
        forget(f, ARCH_CALL_WRITES);
        break;
    case INSTRUCTION_OTHER:
        forget(f, in->writes);
        break;
    default:
        known = result_of(f, in, &value);
        set(f, in->reg, known, value);
    }
    if (in->step != 0 && in->base < ARCH_REGS)
        set(f, in->base, is_known(f, in->base), f->reg[in->base] + (uint64_t)in->step);
    f->pc += in->length;
    return is_known(f, ARCH_SP) ? course : COURSE_LOST;
}

static enum course go(struct follow *f) {
    struct instruction in;
    uint64_t target;
    const uint8_t *code = code_at_pc(f);
    if (code == NULL)
        return COURSE_LOST;
    instruction_decode(code, f->pc, &in);
    switch (in.kind) {
    case INSTRUCTION_RETURN:
        return COURSE_RETURN;
    case INSTRUCTION_JUMP:
        return pass(f) ? COURSE_LOST : arrive(f, in.target);
    case INSTRUCTION_JUMP_SLOT:
        if (pass(f) || (in.target & 7) != 0 || !unwind_read(f->env, in.target, &target))
            return COURSE_LOST;
        return arrive(f, target);
    case INSTRUCTION_BRANCH:
        if (pass(f))
            return COURSE_LOST;
        forget(f, in.writes);
        keep_way(f, in.target);
        f->pc += in.length;
        return COURSE_ON;
    case INSTRUCTION_END:
        return COURSE_LOST;
    default:
        return compute(f, &in);
    }
}

/* ---- the caller ---- */

/* Where the return address is when the code returns: on top of the stack, or in a register. */
static bool find_return_address(const struct follow *f, uint64_t *ra, uint64_t *at) {
    *at = ARCH_HAS_LINK ? 0 : f->reg[ARCH_SP];
    if (!ARCH_HAS_LINK)
        return (*at & 7) == 0 && load(f, *at, ra);
    *ra = arch_unsigned(f->reg[ARCH_LINK]);
    return is_known(f, ARCH_LINK);
}

/* What the code has pushed that it jumps from, if it is the first of a table of links, which leaves
 * it there. */
static uint64_t pushed_by_links(const struct follow *f) {
    uint64_t at = f->pc - ARCH_LINKS_BYTES, word;
    uint8_t code[8];
    if (ARCH_LINKS_PUSHED == 0 || !unwind_read(f->env, at & ~7ull, &word))
        return 0;
    word >>= 8 * (at & 7);
    memcpy(code, &word, sizeof code);
    return arch_links_push(code) ? ARCH_LINKS_PUSHED : 0;
}

/* The caller, when that can be: the return address follows a call, or is where an interpreter goes
 * on. */
static bool arrive_at_caller(const struct follow *f, struct unwind_registers *regs,
                             struct unwind_step *step) {
    uint64_t sp = f->reg[ARCH_SP], at, ra;
    if (sp < regs->reg[ARCH_SP] || !find_return_address(f, &ra, &at))
        return false;
    if (!unwind_is_return_address(f->env, ra) &&
        !(f->module == NULL && unwind_may_go_back(f->env, regs->pc, ra)))
        return false;
    step->flags |= UNWIND_STEP_OPAQUE;
    step->ra_at = at;
    regs->reg[ARCH_FP] = f->reg[ARCH_FP];
    regs->known =
        (regs->known & ~(UNWIND_FP_KNOWN | UNWIND_FP_PERHAPS)) | (f->known & UNWIND_FP_KNOWN);
    unwind_to_caller(regs, step, ra, sp + ARCH_CALL_BYTES + pushed_by_links(f));
    return true;
}

bool unwind_follow(const struct unwind_env *env, const struct unwind_module *module,
                   struct unwind_registers *regs, struct unwind_step *step) {
    struct follow *f = (void *)env->scratch;
    enum course course = COURSE_ON;
    bool found = false;
    uint32_t max = module != NULL ? STEPS_MAX : GENERATED_MAX;
    if (f == NULL || !(regs->known & UNWIND_KNOWN(ARCH_SP)))
        return false;
    memset(f, 0, sizeof *f);
    f->env = env;
    f->module = module;
    f->from = regs;
    f->pc = regs->pc;
    f->sp_from = regs->reg[ARCH_SP];
    f->known = regs->known & ARCH_ALL_REGS;
    f->unchanged = f->known;
    memcpy(f->reg, regs->reg, sizeof f->reg);
    while (!found && f->steps < max) {
        if (course == COURSE_ON)
            course = go(f);
        if (course == COURSE_RETURN)
            found = arrive_at_caller(f, regs, step);
        if (!found && course != COURSE_ON && (course = next_way(f)) == COURSE_LOST)
            break;
        f->steps++;
    }
    step->effort += f->steps / STEPS_A_EFFORT;
    return found;
}
