/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_stack.h - a thread's registers and a copy of its stack, which another process unwinds; and
 * the frames that it finds. Innermost ones may have been found by the agent, which can walk through
 * code that is in no file.
 *
 * One piece of memory, so that it is queued, sent and freed as it is:
 *
 *   struct raw_stack | ranges of code, later ones hide earlier ones | frames that the agent has
 *   found, innermost first | registers | stack words
 */
#ifndef HCCT_RAW_STACK_H
#define HCCT_RAW_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define RAW_STACK_RANGES_MAX    4096u
#define RAW_STACK_REGISTERS_MAX 64u
#define RAW_STACK_WORDS_MAX     WIRE_RAW_STACK_MAX
#define RAW_STACK_FRAMES_MAX    WIRE_MAX_FRAMES
#define RAW_STACK_INNER_MAX     WIRE_RAW_STACK_FRAMES_MAX
#define RAW_STACK_MARKS_MAX     WIRE_PSEUDO_MAX

/* Where a module is mapped. */
struct code_range {
    uint64_t start, end;
    uint64_t bias;   /* run-time address minus the address in the file */
    uint32_t module; /* module.h; 0: code without unwind data */
    uint32_t reserved;
};

struct raw_stack {
    uint64_t pc;    /* where the thread was interrupted */
    uint64_t at;    /* where the walk begins: the pc, or the return address of the last frame */
    uint64_t known; /* bit n: the register of DWARF number n is known there */
    uint32_t n_ranges;
    uint32_t n_inner;     /* frames that the agent has found */
    uint32_t n_registers; /* by DWARF number */
    uint32_t n_words;     /* of the stack, from the stack pointer up */
};

struct unwound_frame {
    uint64_t routine; /* run-time start of the unwind entry that covers the pc */
    uint64_t site;    /* return address in the caller, 0: not known, or there is none */
};

/* What came of it: frames, the innermost first, which the owner of the walk frees. */
struct unwound_stack {
    uint32_t n;
    uint32_t mark; /* 0: it reached the root; else why not, enum wire_pseudo */
    struct unwound_frame *frames;
};

/* Of all of it, as the numbers in it say. */
static inline uint64_t raw_stack_bytes(const struct raw_stack *stack) {
    return sizeof(struct raw_stack) + stack->n_ranges * sizeof(struct code_range) +
           stack->n_inner * sizeof(struct unwound_frame) +
           ((uint64_t)stack->n_registers + stack->n_words) * sizeof(uint64_t);
}

static inline struct code_range *raw_stack_ranges(const struct raw_stack *stack) {
    return (struct code_range *)(uintptr_t)(stack + 1);
}

static inline struct unwound_frame *raw_stack_inner(const struct raw_stack *stack) {
    return (struct unwound_frame *)(void *)(raw_stack_ranges(stack) + stack->n_ranges);
}

/* The walk begins at a return address: frames that have callers were found. A system call has none:
 * the thread is still where it made the call. */
static inline bool raw_stack_is_at_caller(const struct raw_stack *stack) {
    return stack->n_inner > 1 ||
           (stack->n_inner == 1 && !wire_is_system_call(raw_stack_inner(stack)->routine));
}

static inline uint64_t *raw_stack_registers(const struct raw_stack *stack) {
    return (uint64_t *)(void *)(raw_stack_inner(stack) + stack->n_inner);
}

static inline uint64_t *raw_stack_words(const struct raw_stack *stack) {
    return raw_stack_registers(stack) + stack->n_registers;
}

#endif
