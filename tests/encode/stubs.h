/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stubs.h - code around a call that keeps the thread's context as a number, and how a signal
 * handler reads the context at any of its instructions. This is what the agent is to write
 * (doc/encoding.md); here it is tried on programs that are made up.
 *
 * A call instruction becomes a jump to a slot of 64 bytes:
 *
 *   0   (padding) what is done before the call
 *   27  call function
 *   32  what is done after it
 *       jmp to behind the call instruction
 *
 * The return address is the same whatever is done, so that a slot can be written anew while calls
 * by it are open. No register changes, and no flag that is not dead at a call. The stack pointer is
 * the caller's own at the call.
 *
 * x86-64 only. One thread writes, and none is within the slot meanwhile.
 */
#ifndef HCCT_TEST_STUBS_H
#define HCCT_TEST_STUBS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/encode/context.h"

#define STUB_SLOT    64u
#define STUB_CALL    27u /* in a slot: the call ... */
#define STUB_BACK    32u /* ... and where it returns to */
#define STUB_ENTRIES 4096u

/* What a thread has of it. The code knows the layout. */
struct stub_thread {
    uint64_t id;
    struct context_entry *top; /* the first entry stands for an empty stack */
    struct context_entry *limit;
    uint64_t head; /* max_id + 1 */
    uint64_t over; /* calls that found the stack full: no context can be told while there are any */
    struct context_entry entry[STUB_ENTRIES];
};

extern _Thread_local struct stub_thread stub_thread;

void stub_thread_start(void);

/* Writes a slot: of a call by `edge`, with its code in `encoding`. */
void stub_slot_write(uint8_t *slot, uint32_t edge, const struct encoding *encoding, uint64_t target,
                     uint64_t back);

/* A copy of the calling thread's state as it is for the caller of a call, when the thread has come
 * to `pc` within the call's slot, or in its common code. With slot NULL: as it is. Sets all but the
 * function. False: no context can be told. */
bool stub_read(uint64_t pc, const uint8_t *slot, struct context *context);

/* Part of the slots' common code; the slot is then the one of the first return address in it on the
 * stack. */
bool stub_is_helper(uint64_t pc);

/* In a signal handler: takes the thread, which the signal has met in the slot or in its common
 * code, out of it. Its state becomes the caller's, and it goes on at the slot's beginning if the
 * call was not made yet, behind the call instruction (`back`) if it was. False: no context can be
 * told, and nothing has changed. */
bool stub_step_out(ucontext_t *at, const uint8_t *slot, uint64_t back, struct context *context);

/* The thread's state becomes that of `context`, in an encoding with that largest id. */
void stub_set(const struct context *context, uint64_t max_id);

#endif
