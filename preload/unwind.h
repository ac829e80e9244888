/*
 * unwind.h - the walk: from registers to frames, by compact tables.
 *
 * A pure function of (registers, memory reader, tables): it calls nothing but the two functions
 * that it is given, keeps no state, and touches no memory but the frames that it fills. So it runs
 * in a signal handler and, with recorded snapshots, in a test.
 */
#ifndef HCCT_UNWIND_H
#define HCCT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/unwind_table.h"
#include "preload/arch.h"

/* One frame of a context, as the PUSH event has it. */
struct unwind_frame {
    uint64_t routine; /* run-time address of the function's unwind entry */
    uint64_t site;    /* return address in the caller, 0 for the outermost */
};

struct unwind_module {
    uint64_t start, end; /* run-time addresses */
    uint64_t bias;
    const struct unwind_table *table; /* NULL: none */
    bool pending;                     /* its table is still being made */
};

struct unwind_env {
    /* The module that covers pc, into *module; false when there is none. */
    bool (*find)(void *arg, uint64_t pc, struct unwind_module *module);
    /* Memory outside [low, high) is read through this: false when it can't be read. */
    bool (*read)(void *arg, uint64_t address, uint64_t *word);
    void *arg;
    uint64_t low, high; /* memory that can be read directly: the thread's own stack */
};

enum unwind_end {
    UNWIND_COMPLETE,  /* the outermost frame was reached */
    UNWIND_TRUNCATED, /* there are more frames than room */
    UNWIND_NO_MODULE, /* code of no known module */
    UNWIND_NO_RULE,   /* code without a rule, or with one that needs a register that is not known */
    UNWIND_BAD_STACK, /* the stack pointer fell, left its bounds, or could not be read */
    UNWIND_PENDING,   /* a table is still being made */
};

struct unwind_registers {
    uint64_t pc;
    uint64_t reg[ARCH_REGS]; /* by DWARF number */
    uint32_t known;          /* bit n: reg[n] is known */
};

/* All registers of an interrupted program. */
void unwind_registers_of(struct unwind_registers *regs, const ucontext_t *uc);

/* Walks from `regs` (changed on the way) and fills frames[0..*n), innermost first, at most `room`.
 * Says how the walk ended; what was found up to there is in frames. */
enum unwind_end unwind_walk(const struct unwind_env *env, struct unwind_registers *regs,
                            struct unwind_frame *frames, uint32_t room, uint32_t *n);

#endif
