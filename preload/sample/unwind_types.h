/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_types.h - what a walk is made of: modules, registers, frames, steps.
 */
#ifndef HCCT_UNWIND_TYPES_H
#define HCCT_UNWIND_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"

/* One frame of a context, as the PUSH event has it. */
struct unwind_frame {
    uint64_t routine; /* run-time address of the function's unwind entry */
    uint64_t site;    /* return address in the caller, 0 for the outermost */
};

static inline bool unwind_frame_is(const struct unwind_frame *frame,
                                   const struct unwind_frame *other) {
    return frame->routine == other->routine && frame->site == other->site;
}

struct unwind_module {
    uint64_t start, end; /* run-time addresses */
    uint64_t bias;
    const struct unwind_table *table; /* NULL: none */
    uint32_t number;                  /* of the module log, from 1 on; 0: it is not in it */
    bool pending;                     /* its table is still being made */
};

/* Rules found before, by pc, in sets of two: one load instead of a look-up. Zeroed is empty; must
 * be emptied when an address may have come to mean other code. */
#define UNWIND_CACHE_BITS 11
struct unwind_cached {
    uint64_t key; /* pc and whether it is exact */
    uint64_t routine;
    const struct unwind_rule *rule;
    /* The usual rule, at hand: a frame at base + cfa_off, the return address where arch.h says. */
    int32_t cfa_off;
    int16_t fp_off; /* from the frame to the saved frame pointer; where it is not saved, as arch.h
                       says */
    uint16_t flags; /* of the step; 0: another rule */
};

#define UNWIND_SCRATCH_WORDS 152u

struct unwind_env {
    /* The module that covers pc, into *module; false when there is none. */
    bool (*find)(void *arg, uint64_t pc, struct unwind_module *module);
    /* The word at `address`, a multiple of 8 outside [low, high): false when it can't be read. */
    bool (*read)(void *arg, uint64_t address, uint64_t *word);
    void *arg;
    uint64_t low, high;          /* memory that can be read directly: the thread's own stack */
    struct unwind_cached *cache; /* 1 << UNWIND_CACHE_BITS entries at a multiple of 64, or NULL */
    uint64_t *scratch; /* UNWIND_SCRATCH_WORDS, as a signal's stack is small; NULL: code without
                        * rules is not followed */
};

enum unwind_end {
    UNWIND_COMPLETE,  /* the outermost frame was reached */
    UNWIND_TRUNCATED, /* there are more frames than room */
    UNWIND_NO_MODULE, /* code of no known module */
    UNWIND_NO_RULE,   /* code without a rule */
    UNWIND_BAD_STACK, /* the stack pointer fell, left its bounds, or could not be read */
    UNWIND_PENDING,   /* a table is still being made */
    UNWIND_RICH,      /* there is unwind data, but it says more than a compact rule can, or goes by
                         a register that is not followed */
    UNWIND_STEPPED,   /* of a single step: not the end */
};

struct unwind_registers {
    uint64_t pc;
    uint64_t reg[ARCH_REGS]; /* by DWARF number; a stack pointer that is not known is no less */
    uint64_t known;          /* bit n: reg[n] is known */
    bool exact;              /* pc is where the program was interrupted, not a return address */
};

#define UNWIND_FP_KNOWN (1ull << ARCH_FP)

/* How a step came about. All that it depends on is the pc and the stack pointer, and beside them:
 */
enum unwind_step_flag {
    UNWIND_STEP_USES_FP = 1,   /* the frame pointer */
    UNWIND_STEP_PASSES_FP = 2, /* not itself, but the caller's frame pointer is the same */
    UNWIND_STEP_OPAQUE = 4,    /* more than that */
    UNWIND_STEP_CACHED = 8,    /* the rule was in the cache (nothing depends on that) */
    UNWIND_STEP_BY_FP = 16,    /* no unwind data: the caller was found by frame pointer */
    UNWIND_STEP_SEARCHED = 32, /* no unwind data: the caller was found by a search of the stack */
    UNWIND_STEP_BARE = 64,     /* no unwind data: the caller was found by these or other means */
};

/* One step, and the words that it read: the same words give the same step. */
struct unwind_step {
    uint64_t routine;      /* 0: what was there is no code at all, and no frame */
    uint64_t site;         /* return address, 0 when there is no caller */
    uint64_t ra_word;      /* what was read at ra_at: it may be signed */
    uint64_t ra_at, fp_at; /* where return address and frame pointer were read, 0: not in memory */
    uint64_t cfa_at, cfa_word; /* a word that the frame's address was computed from, 0: none */
    uint32_t flags;
    uint32_t effort; /* beside a usual step's: so many more might have been made instead */
};

#endif
