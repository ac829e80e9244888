/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_snapshot.h - a test's own stack, copied by a signal handler as the agent copies it, and
 * what backtrace() saw at the same time.
 */
#ifndef HCCT_STACK_SNAPSHOT_H
#define HCCT_STACK_SNAPSHOT_H

#include "common/code/raw_stack.h"

#define SNAPSHOT_DEPTH  512
#define SNAPSHOT_RANGES 64

struct stack_snapshot {
    struct raw_stack *stack;     /* malloc'ed; NULL: none was taken */
    void *truth[SNAPSHOT_DEPTH]; /* the pc, and the return addresses above it */
    int truths;
    uint32_t words_max; /* of the stack to copy */
};

extern struct stack_snapshot snapshot;

/* Where this program's modules are mapped. */
extern struct code_range snapshot_ranges[SNAPSHOT_RANGES];
extern uint32_t snapshot_n_ranges;

/* To be called first, with an address in the frame of main(). */
void snapshot_begin(void *frame_of_main);

/* Takes one here, in place of the last. */
void snapshot_here(void);

#endif
