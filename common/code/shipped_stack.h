/*
 * shipped_stack.h - a thread's registers and a copy of its stack, to be unwound from afar; and the
 * frames that were found. Innermost ones may have been found by the agent, which can walk through
 * code that is in no file.
 *
 * One piece of memory, so that it is queued, sent and freed as it is:
 *
 *   struct shipped_stack | ranges of code, later ones hide earlier ones | frames that the agent has
 *   found, innermost first | registers | stack words
 */
#ifndef HCCT_SHIPPED_STACK_H
#define HCCT_SHIPPED_STACK_H

#include <stdint.h>

#include "common/wire/wire.h"

#define SHIPPED_RANGES_MAX    4096u
#define SHIPPED_REGISTERS_MAX 64u
#define SHIPPED_WORDS_MAX     WIRE_SHIP_STACK_MAX
#define SHIPPED_FRAMES_MAX    WIRE_MAX_FRAMES
#define SHIPPED_INNER_MAX     WIRE_SHIP_FRAMES_MAX
#define SHIPPED_MARKS_MAX     WIRE_PSEUDO_MAX

/* Where a module is mapped. */
struct code_range {
    uint64_t start, end;
    uint64_t bias;   /* run-time address minus the address in the file */
    uint32_t module; /* module.h; 0: code without unwind data */
    uint32_t reserved;
};

struct shipped_stack {
    uint64_t pc;    /* where the thread was interrupted */
    uint64_t at;    /* where the walk begins: the pc, or the return address of the last frame */
    uint64_t known; /* bit n: the register of DWARF number n is known there */
    uint32_t n_ranges;
    uint32_t n_inner;     /* frames that the agent has found */
    uint32_t n_registers; /* by DWARF number */
    uint32_t n_words;     /* of the stack, from the stack pointer up */
};

struct shipped_frame {
    uint64_t routine; /* run-time start of the unwind entry that covers the pc */
    uint64_t site;    /* return address in the caller, 0: not known, or there is none */
};

/* What came of it: frames, the innermost first, which the owner of the walk frees. */
struct shipped_walk {
    uint32_t n;
    uint32_t mark; /* 0: it reached the root; else why not, enum wire_pseudo */
    struct shipped_frame *frames;
};

/* Of all of it, as the numbers in it say. */
static inline uint64_t shipped_bytes(const struct shipped_stack *stack) {
    return sizeof(struct shipped_stack) + stack->n_ranges * sizeof(struct code_range) +
           stack->n_inner * sizeof(struct shipped_frame) +
           ((uint64_t)stack->n_registers + stack->n_words) * sizeof(uint64_t);
}

static inline struct code_range *shipped_ranges(const struct shipped_stack *stack) {
    return (struct code_range *)(uintptr_t)(stack + 1);
}

static inline struct shipped_frame *shipped_inner(const struct shipped_stack *stack) {
    return (struct shipped_frame *)(void *)(shipped_ranges(stack) + stack->n_ranges);
}

static inline uint64_t *shipped_registers(const struct shipped_stack *stack) {
    return (uint64_t *)(void *)(shipped_inner(stack) + stack->n_inner);
}

static inline uint64_t *shipped_words(const struct shipped_stack *stack) {
    return shipped_registers(stack) + stack->n_registers;
}

#endif
