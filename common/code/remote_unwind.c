/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_unwind.c - the walk: libunwind steps where there is an unwind entry, the code of _init and
 * _fini is known without one, and else frame pointers are followed as the agent does.
 */
#include "common/code/remote_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "common/code/remote_target.h"
#include "common/wire/arch.h"
#include "common/wire/unwind_table.h"
#include "common/wire/wire.h"

/* A call within generated code reaches no further. */
#define CALL_REACH (1ull << 31)

/* Further above the copy than any stack is high, an address is no part of it. */
#define STACK_BYTES_MAX (1ull << 30)

/* ---- the unwinder ---- */

struct remote_unwinder *remote_unwinder_new(void) {
    struct remote_unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (unwinder == NULL)
        return NULL;
    unwinder->space = unw_create_addr_space(&remote_accessors, 0);
    if (unwinder->space == NULL) {
        free(unwinder);
        return NULL;
    }
    /* the same addresses are another program's in the next walk */
    unw_set_caching_policy(unwinder->space, UNW_CACHE_NONE);
    return unwinder;
}

void remote_unwinder_free(struct remote_unwinder *unwinder) {
    if (unwinder == NULL)
        return;
    for (unsigned i = 0; i < REMOTE_IMAGES_MAX; i++)
        unwind_image_free(unwinder->kept[i].image);
    unw_destroy_addr_space(unwinder->space);
    free(unwinder);
}

void remote_unwinder_keep(struct remote_unwinder *unwinder, uint32_t module,
                          struct unwind_image *image) {
    struct kept_image *oldest = &unwinder->kept[0];
    for (unsigned i = 1; i < REMOTE_IMAGES_MAX; i++)
        if (unwinder->kept[i].used < oldest->used)
            oldest = &unwinder->kept[i];
    unwind_image_free(oldest->image);
    *oldest = (struct kept_image){.module = module, .used = ++unwinder->walks, .image = image};
}

/* ---- a step ---- */

enum step { STEP_ON, STEP_ROOT, STEP_NO_MODULE, STEP_NO_RULE, STEP_BAD_STACK, STEP_SHORT };

static bool is_above_copy(const struct remote_walk *walk, uint64_t address) {
    return address >= walk->stack_end && address - walk->stack_end < STACK_BYTES_MAX;
}

/* A word of the stack that can't be read. */
static enum step unread(const struct remote_walk *walk, uint64_t address) {
    return walk->stack_switched || is_above_copy(walk, address) ? STEP_SHORT : STEP_BAD_STACK;
}

static enum step why_not(const struct remote_walk *walk) {
    if (!walk->entry_used || !walk->read_failed)
        return STEP_NO_RULE;
    return unread(walk, walk->failed_at);
}

/* The cursor starts anew, from a frame of which pc and stack pointer are known, and those registers
 * that walk->known says. */
static enum step start_at_caller(struct remote_walk *walk, uint64_t ra, uint64_t sp) {
    walk->pc = ra;
    walk->sp = sp;
    walk->exact = false;
    walk->first_pc = ra - 1;
    walk->first[ARCH_SP] = sp;
    walk->known |= 1ull << ARCH_SP;
    return unw_init_remote(&walk->cursor, walk->unwinder->space, walk) == 0 ? STEP_ON
                                                                            : STEP_BAD_STACK;
}

/* What the cursor knows of the registers. They may be those that it started from. */
static void keep_registers(struct remote_walk *walk) {
    uint64_t value[ARCH_REGS] = {0}, known = 0;
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (unw_get_reg(&walk->cursor, (unw_regnum_t)i, &value[i]) == 0)
            known |= 1ull << i;
    memcpy(walk->first, value, sizeof value);
    walk->known = known & ~(ARCH_HAS_LINK ? 1ull << ARCH_LINK : 0); /* what it tells is the pc */
}

/* libunwind takes a caller whose frame pointer is 0 for none: but where the return address was
 * saved it has found. */
static uint64_t caller_at_end(struct remote_walk *walk) {
    unw_save_loc_t at;
    uint64_t ra = 0;
    if (ARCH_HAS_LINK && unw_get_save_loc(&walk->cursor, ARCH_LINK, &at) == 0 &&
        at.type == UNW_SLT_MEMORY && !remote_read(walk, at.u.addr, &ra))
        return 0;
    return arch_unsigned(ra);
}

/* To the caller. The stack pointer must rise, but for a signal frame, which may be on a stack of
 * its own, and where the program was interrupted while a register has the return address (vfork).
 */
static enum step step_by_entry(struct remote_walk *walk) {
    uint64_t least = walk->sp + (walk->exact ? 0 : 1);
    walk->entry_used = walk->read_failed = false;
    int status = unw_step(&walk->cursor);
    if (status < 0 || !walk->entry_used)
        return why_not(walk);
    uint64_t ra = status == 0 ? caller_at_end(walk) : 0, pc;
    if (status == 0 && ra == 0)
        return STEP_ROOT;
    walk->exact = walk->place.entry.is_signal;
    if (unw_get_reg(&walk->cursor, UNW_REG_IP, &pc) < 0 ||
        unw_get_reg(&walk->cursor, UNW_REG_SP, &walk->sp) < 0)
        return STEP_BAD_STACK;
    if (!walk->exact && walk->sp < least)
        return STEP_BAD_STACK;
    walk->pc = ra != 0 ? ra : arch_unsigned(pc);
    if (!walk->exact && walk->pc != pc) { /* the cursor has another */
        keep_registers(walk);
        return start_at_caller(walk, walk->pc, walk->sp);
    }
    if (!walk->exact)
        return STEP_ON;
    walk->stack_switched |= walk->sp - walk->stack_start > walk->stack_end - walk->stack_start;
    return STEP_ON;
}

/* The 16 bytes of code around `pc`, 8 on each side. */
static bool read_code(struct remote_walk *walk, uint64_t pc, uint8_t code[16]) {
    uint64_t word[2];
    const struct code_range *range = remote_range(walk->stack, pc);
    if (range == NULL || !remote_read(walk, pc - 8, &word[0]) || !remote_read(walk, pc, &word[1]))
        return false;
    memcpy(code, word, sizeof word);
    return true;
}

/* A return address comes after a call. Generated code is in no file: there it is enough that it is
 * near. */
static bool is_return_address(struct remote_walk *walk, uint64_t ra) {
    uint8_t code[16];
    if (ra <= ARCH_LOWEST_CODE)
        return false;
    if (remote_range(walk->stack, ra - 1) != NULL)
        return !read_code(walk, ra, code) || arch_is_call_before(code + 8);
    return walk->place.range == NULL && ra - walk->pc + CALL_REACH < 2 * CALL_REACH;
}

/* In code without unwind data that has called nothing yet: a register has the return address. */
static enum step step_by_link(struct remote_walk *walk, enum step otherwise) {
    uint64_t ra = arch_unsigned(walk->first[ARCH_LINK]);
    if (!walk->exact || (walk->known >> ARCH_LINK & 1) == 0 || !is_return_address(walk, ra))
        return otherwise;
    keep_registers(walk);
    return start_at_caller(walk, ra, walk->sp);
}

/* In code without unwind data: by frame pointer, where code keeps one. */
static enum step step_by_fp(struct remote_walk *walk, enum step otherwise) {
    enum arch_frame state = ARCH_FRAME_SET;
    uint8_t code[16];
    uint64_t fp, ra;
    bool known = unw_get_reg(&walk->cursor, ARCH_FP, &fp) == 0;
    if (walk->exact && read_code(walk, walk->pc, code))
        state = arch_frame_at(code + 8);
    if (!known || (state == ARCH_FRAME_SET && fp < walk->sp))
        return otherwise;
    uint64_t base = state == ARCH_FRAME_SET ? fp : walk->sp;
    uint64_t ra_at = state == ARCH_FRAME_NONE ? base : base + 8;
    if ((base & 7) != 0)
        return otherwise;
    if (!remote_read(walk, ra_at, &ra))
        return is_above_copy(walk, ra_at) ? STEP_SHORT : otherwise;
    if (!is_return_address(walk, ra) || (state != ARCH_FRAME_NONE && !remote_read(walk, base, &fp)))
        return otherwise;
    walk->first[ARCH_FP] = fp;
    walk->known = 1ull << ARCH_FP;
    return start_at_caller(walk, ra, ra_at + 8);
}

/* The kernel's code that a handler returns to, without an entry: the frame has all registers. */
static bool is_sigreturn(struct remote_walk *walk) {
    uint8_t code[16];
    return read_code(walk, walk->pc, code) && arch_is_sigreturn(code + 8);
}

static enum step step_by_sigreturn(struct remote_walk *walk) {
    uint64_t sp = walk->sp;
    if (!remote_read(walk, sp + ARCH_SIGFRAME_PC, &walk->pc))
        return unread(walk, sp + ARCH_SIGFRAME_PC);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if (!remote_read(walk, sp + ARCH_SIGFRAME_REG(i), &walk->first[i]))
            return unread(walk, sp + ARCH_SIGFRAME_REG(i));
    walk->known = ARCH_ALL_REGS;
    walk->exact = true;
    walk->first_pc = walk->pc;
    walk->sp = walk->first[ARCH_SP];
    walk->stack_switched |= walk->sp - walk->stack_start > walk->stack_end - walk->stack_start;
    return unw_init_remote(&walk->cursor, walk->unwinder->space, walk) == 0 ? STEP_ON
                                                                            : STEP_BAD_STACK;
}

/* Where the frame pointer does not tell the stack pointer, its chain leads to no entry's frame. */
static enum step step_without_entry(struct remote_walk *walk, enum step otherwise) {
    if (is_sigreturn(walk))
        return step_by_sigreturn(walk);
    return ARCH_FP_TELLS_SP ? step_by_fp(walk, otherwise) : step_by_link(walk, otherwise);
}

/* The code of _init or _fini saves no register but the frame pointer, and needs none. Nobody has
 * called _start. */
static enum step step_by_init(struct remote_walk *walk) {
    const struct unwind_entry *entry = &walk->place.entry;
    uint64_t offset = walk->lookup - walk->place.range->bias - entry->code_start;
    struct init_frame frame;
    if (entry->init->is_start)
        return STEP_ROOT;
    if (!init_code_frame(entry->init, offset, &frame))
        return STEP_NO_RULE;
    if (!frame.ra_saved)
        return step_by_link(walk, STEP_NO_RULE);
    uint64_t cfa = walk->sp + frame.cfa, ra_at = cfa - INIT_CODE_WORD;
    uint64_t fp_at = ra_at - INIT_CODE_WORD, ra, fp = 0;
    if ((cfa & 7) != 0 || cfa <= walk->sp)
        return STEP_BAD_STACK;
    if (!remote_read(walk, ra_at, &ra))
        return unread(walk, ra_at);
    if (frame.fp_saved && !remote_read(walk, fp_at, &fp))
        return unread(walk, fp_at);
    keep_registers(walk);
    if (frame.fp_saved) {
        walk->first[ARCH_FP] = fp;
        walk->known |= 1ull << ARCH_FP;
    }
    return start_at_caller(walk, arch_unsigned(ra), cfa);
}

/* ---- the walk ---- */

static uint32_t mark_of(enum step step) {
    static const uint8_t marks[] = {
        [STEP_ON] = WIRE_PSEUDO_TRUNCATED, /* as deep as we go */
        [STEP_ROOT] = 0,
        [STEP_NO_MODULE] = WIRE_PSEUDO_NO_MODULE,
        [STEP_NO_RULE] = WIRE_PSEUDO_NO_RULE,
        [STEP_BAD_STACK] = WIRE_PSEUDO_BAD_STACK,
        [STEP_SHORT] = WIRE_PSEUDO_SHORT_COPY,
    };
    return marks[step];
}

/* One frame more. The pc may be in no code at all: then there is none. */
static enum step follow(struct remote_walk *walk, enum remote_found found,
                        struct unwound_frame *frames, uint32_t *n) {
    if (found == REMOTE_NO_CODE && walk->pc <= ARCH_LOWEST_CODE)
        return STEP_NO_MODULE;
    struct unwound_frame *frame = &frames[(*n)++];
    enum step state;
    *frame = (struct unwound_frame){0};
    if (found == REMOTE_FOUND) {
        frame->routine = walk->place.range->bias + walk->place.entry.start;
        state = walk->place.entry.init != NULL                      ? step_by_init(walk)
                : walk->place.entry.is_signal && is_sigreturn(walk) ? step_by_sigreturn(walk)
                                                                    : step_by_entry(walk);
    } else if (found == REMOTE_ROOT) {
        frame->routine = walk->pc;
        state = STEP_ROOT;
    } else if (found == REMOTE_NO_ENTRY) {
        frame->routine = walk->lookup & ~(uint64_t)(UNWIND_CODE_BLOCK - 1);
        state = step_without_entry(walk, STEP_NO_RULE);
    } else {
        frame->routine = walk->pc;
        state = step_without_entry(walk, STEP_NO_MODULE);
    }
    if (state == STEP_ON)
        frame->site = walk->pc;
    return state;
}

/* From the registers of the sample: those of the interrupted code, or of the caller that the agent
 * has come to. */
static bool start(struct remote_walk *walk) {
    const struct raw_stack *stack = walk->stack;
    if (stack->n_registers <= ARCH_SP || stack->n_registers > RAW_STACK_REGISTERS_MAX)
        return false;
    memcpy(walk->first, raw_stack_registers(stack), stack->n_registers * sizeof(uint64_t));
    walk->known = stack->known & UINT64_MAX >> (64 - stack->n_registers);
    if ((walk->known >> ARCH_SP & 1) == 0)
        return false;
    walk->pc = stack->at;
    walk->exact = !raw_stack_is_at_caller(stack);
    walk->first_pc = walk->exact ? walk->pc : walk->pc - 1;
    walk->sp = walk->first[ARCH_SP];
    walk->stack_start = walk->sp & ~7ull;
    if (walk->stack_start > UINT64_MAX - stack->n_words * sizeof(uint64_t))
        return false;
    walk->stack_end = walk->stack_start + stack->n_words * sizeof(uint64_t);
    return unw_init_remote(&walk->cursor, walk->unwinder->space, walk) == 0;
}

uint32_t remote_unwind(struct remote_unwinder *unwinder, const struct raw_stack *stack,
                       struct unwound_frame *frames, struct unwound_stack *out) {
    struct remote_walk walk = {.unwinder = unwinder, .stack = stack};
    enum step state = STEP_ON;
    unwinder->walks++;
    memcpy(frames, raw_stack_inner(stack), stack->n_inner * sizeof frames[0]);
    out->n = stack->n_inner;
    out->mark = WIRE_PSEUDO_BAD_STACK;
    if (!start(&walk))
        return 0;
    while (state == STEP_ON && out->n < RAW_STACK_FRAMES_MAX) {
        enum remote_found found = remote_find_place(&walk);
        if (found == REMOTE_NO_IMAGE)
            return walk.place.range->module;
        state = follow(&walk, found, frames, &out->n);
    }
    out->mark = mark_of(state);
    return 0;
}
