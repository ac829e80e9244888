/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * machine.h - a program that exists only as stack words and an unwind table: it calls, returns,
 * jumps out of many frames, takes signals and overwrites its stack, at random. Tests walk its stack
 * at any moment, and it knows the true callers.
 */
#ifndef HCCT_TESTS_MACHINE_H
#define HCCT_TESTS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/unwind.h"

#define MACHINE_LEVELS 400u
#define MACHINE_WORDS  65536u
#define MACHINE_OTHER  4096u /* words of another stack */

/* How a function's frame is found. From MACHINE_FAILING on, the walk ends there. */
enum machine_kind {
    MACHINE_START,  /* the outermost: has no caller */
    MACHINE_SIGNAL, /* the signal trampoline */
    MACHINE_PLAIN,  /* by stack pointer; leaves the frame pointer alone */
    MACHINE_SAVES,  /* by stack pointer; saves the frame pointer and uses it for something else */
    MACHINE_BY_FP,  /* by frame pointer */
    MACHINE_REALIGNED, /* by a word below the frame pointer */
    MACHINE_NO_RULE,   /* no unwind data, keeps a frame pointer */
    MACHINE_OUTSIDE,   /* the same in code of no module */
    MACHINE_FAILING,   /* by another register: only when it was interrupted itself */
    MACHINE_LOSES_FP,  /* its caller's frame pointer is not known */
    MACHINE_RICH,      /* more than a rule can say */
    MACHINE_KINDS
};

struct machine_level {
    unsigned function;
    uint64_t pc, sp, fp; /* with which it goes on when all that it called has returned */
    uint64_t ra_at;      /* where its return address is */
};

struct machine {
    uint64_t *stack, *other;
    uint64_t random;
    unsigned failing_of_1000; /* calls of functions where walks fail, and stack words broken */
    struct machine_level level[MACHINE_LEVELS];
    uint32_t levels; /* the last one runs */
    bool entering;   /* at the first instruction: the frame is not made yet */
    bool other_unreadable;
    uint64_t pc, sp, fp, rbx;
    void *table;
};

/* malloc'ed parts; the same seed gives the same program. machine_free frees them. */
void machine_make(struct machine *machine, uint64_t seed, unsigned failing_of_1000);
void machine_free(struct machine *machine);

/* Below n, n > 0. */
uint64_t machine_random(struct machine *machine, uint64_t n);

/* One thing that a program may do. */
void machine_act(struct machine *machine);

/* Single things: a call of a function of that kind, the return from the running one, the running
 * one goes on to another instruction. */
void machine_call(struct machine *machine, enum machine_kind kind);
void machine_return(struct machine *machine);
void machine_go_on(struct machine *machine);

/* What a walk is made of at this moment. */
void machine_env(struct machine *machine, struct unwind_env *env);
void machine_registers(struct machine *machine, struct unwind_registers *regs);

/* Whether a walk must find exactly the levels of the machine. */
bool machine_is_honest(const struct machine *machine);

/* Return address of the i-th frame counted from the innermost, 0 for the outermost. */
uint64_t machine_site(const struct machine *machine, uint32_t i);

#endif
