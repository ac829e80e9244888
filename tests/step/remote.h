/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote.h - a second opinion: libunwind, which reads the target's registers, memory and unwind
 * entries through functions that are given to it.
 */
#ifndef HCCT_STEP_REMOTE_H
#define HCCT_STEP_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/unwind.h"
#include "tests/step/images.h"
#include "tests/step/memory.h"

#define REMOTE_ROUTINES 65536u

struct remote_routine {
    uint64_t pc, start;
};

struct remote {
    struct images *images;
    struct memory *memory;
    void *space;                         /* libunwind's */
    const struct unwind_registers *regs; /* of the walk at hand */
    struct remote_routine *routine;      /* REMOTE_ROUTINES: what was looked up before */
};

/* False: no memory. */
bool remote_init(struct remote *remote, struct images *images, struct memory *memory);
void remote_clear(struct remote *remote);

/* The images have changed. */
void remote_forget(struct remote *remote);

/* Return addresses, innermost first: their number, at most `room`. *complete: it came to the
 * outermost frame. */
uint32_t remote_walk(struct remote *remote, const struct unwind_registers *regs, uint64_t *address,
                     uint32_t room, bool *complete);

/* The same without libunwind's cache, which takes the first instruction of a function for a return
 * address and the reverse: after a call that is the last instruction of its function they are the
 * same address, of different functions. Slow. */
uint32_t remote_walk_uncached(struct remote *remote, const struct unwind_registers *regs,
                              uint64_t *address, uint32_t room, bool *complete);

/* Start of the unwind entry that covers `pc`, 0: there is none. */
uint64_t remote_routine(struct remote *remote, uint64_t pc);

#endif
