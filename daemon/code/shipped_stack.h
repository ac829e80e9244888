/*
 * shipped_stack.h - a thread's registers and a copy of its stack, to be unwound from afar; and the
 * frames that were found.
 *
 * One piece of memory, so that it is queued, sent and freed as it is:
 *
 *   struct shipped_stack | ranges of code, later ones hide earlier ones | registers | stack words
 */
#ifndef HCCT_SHIPPED_STACK_H
#define HCCT_SHIPPED_STACK_H

#include <stdint.h>

#include "common/wire.h"

#define SHIPPED_RANGES_MAX    4096u
#define SHIPPED_REGISTERS_MAX 64u
#define SHIPPED_WORDS_MAX     WIRE_SHIP_STACK_MAX
#define SHIPPED_FRAMES_MAX    WIRE_MAX_FRAMES
#define SHIPPED_MARKS_MAX     WIRE_PSEUDO_MAX

/* Where a module is mapped. */
struct code_range {
    uint64_t start, end;
    uint64_t bias;   /* run-time address minus the address in the file */
    uint32_t module; /* module.h; 0: code without unwind data */
    uint32_t reserved;
};

struct shipped_stack {
    uint64_t pc; /* where the thread was interrupted */
    uint32_t n_ranges;
    uint32_t n_registers; /* by DWARF number */
    uint32_t n_words;     /* of the stack, from the stack pointer up */
    uint32_t reserved;
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

static inline uint64_t shipped_bytes(uint32_t n_ranges, uint32_t n_registers, uint32_t n_words) {
    return sizeof(struct shipped_stack) + n_ranges * sizeof(struct code_range) +
           ((uint64_t)n_registers + n_words) * sizeof(uint64_t);
}

static inline struct code_range *shipped_ranges(const struct shipped_stack *stack) {
    return (struct code_range *)(uintptr_t)(stack + 1);
}

static inline uint64_t *shipped_registers(const struct shipped_stack *stack) {
    return (uint64_t *)(void *)(shipped_ranges(stack) + stack->n_ranges);
}

static inline uint64_t *shipped_words(const struct shipped_stack *stack) {
    return shipped_registers(stack) + stack->n_registers;
}

#endif
