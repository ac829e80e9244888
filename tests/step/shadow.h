/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow.h - the true stack: return addresses as the processor's own calls and returns were seen to
 * push and pop them, without any unwind table.
 *
 * For each region of memory that is used as a stack there is a list of the slots that calls wrote.
 * An entry goes when the stack pointer rises above its slot, by whatever instruction; so throw and
 * longjmp need no special care. There are three things that no call made: a signal handler's frame
 * (the kernel made it), the first frame of a context (makecontext did), and, from the moment that
 * an instruction other than a return abandons a frame up to the jump or return that ends it,
 * nothing is the return address of the code that runs: the truth is then not known.
 */
#ifndef HCCT_STEP_SHADOW_H
#define HCCT_STEP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "tests/step/maps.h"
#include "tests/step/memory.h"

#define SHADOW_REGIONS 32
#define SHADOW_DEPTH   1024

struct shadow_region;

struct shadow_entry {
    uint64_t slot;               /* where the address is kept */
    uint64_t target;             /* where execution goes on */
    struct shadow_region *under; /* the stack that a signal interrupted; NULL: no signal frame */
};

struct shadow_region {
    uint64_t start, end;
    bool by_hand; /* its outermost frame has a caller that makecontext made */
    uint32_t n;
    struct shadow_entry entry[SHADOW_DEPTH]; /* outermost first */
};

struct shadow {
    struct memory *memory;
    const struct maps *maps;
    struct shadow_region *region; /* SHADOW_REGIONS */
    uint32_t n_regions;
};

/* What the oracle knows of a thread. */
struct shadow_thread {
    struct shadow_region *region;
    bool resolved;
};

enum shadow_kind { SHADOW_OTHER, SHADOW_CALL, SHADOW_RETURN, SHADOW_JUMP, SHADOW_SYSCALL };

/* False: no memory. */
bool shadow_init(struct shadow *shadow, struct memory *memory, const struct maps *maps);
void shadow_clear(struct shadow *shadow);

/* A thread that has no caller yet. One that another has made is for a few instructions where that
 * one has come from, and the first one where the dynamic linker has left registers, which is no
 * caller of its own: the truth is known from its first call on. False: its stack pointer points
 * nowhere. */
bool shadow_start(struct shadow *shadow, struct shadow_thread *thread, uint64_t sp);

/* What the instruction at `pc` does to the stack. */
enum shadow_kind shadow_kind_at(struct memory *memory, uint64_t pc);

/* A thread executed an instruction of this kind. False: the oracle is lost. */
bool shadow_step(struct shadow *shadow, struct shadow_thread *thread, enum shadow_kind kind,
                 const struct user_regs_struct *before, const struct user_regs_struct *after);

/* A thread is at the first instruction of a signal handler. */
bool shadow_signal(struct shadow *shadow, struct shadow_thread *thread,
                   const struct user_regs_struct *handler);

/* Whether the outermost caller was made by hand. */
bool shadow_is_by_hand(const struct shadow_thread *thread);

/* The return addresses, innermost first: their number, at most `room`. */
uint32_t shadow_stack(const struct shadow_thread *thread, uint64_t *address, uint32_t room);

#endif
