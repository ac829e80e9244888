/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack.h - memory that may not be there, or not for long.
 *
 * A thread's own stack, from the stack pointer up, can be read directly. Anything else (a
 * coroutine's stack, an alternate signal stack, code, what a broken register points to) is copied
 * by the kernel, a page at a time: another thread may unmap it at any moment, also between a
 * check that it is there and the reading. So a system call fails cleanly; no fault is ever caught.
 */
#ifndef HCCT_STACK_H
#define HCCT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define STACK_PAGES 4 /* a walk reads code and stack */

struct stack_page {
    uint64_t word[WIRE_PAGE / sizeof(uint64_t)];
};

/* Pages as they were when they were first asked for since stack_forget. */
struct stack_probe {
    uint64_t page[STACK_PAGES]; /* their addresses; 0: none */
    struct stack_page *copy;    /* as many */
};

static inline void stack_forget(struct stack_probe *probe) {
    for (unsigned i = 0; i < STACK_PAGES; i++)
        probe->page[i] = 0;
}

#define STACK_AHEAD 4u

struct stack_ahead {
    struct stack_probe *probe;
    uint64_t page;
};

/* Pages that are likely to be asked for, STACK_AHEAD at most, of probes that were made to forget:
 * one system call for all of them. What can't be had is left to stack_read(). Signal context. */
void stack_read_ahead(const struct stack_ahead *ahead, unsigned n);

/* Whether the word at an aligned address can be read just now: a system call. Any context. */
bool stack_is_readable(uint64_t address);

/* Copies `bytes`, a multiple of 8, from an aligned address. False: not all of it is there, and
 * `into` may have some of it. Any context. */
bool stack_copy(void *into, uint64_t address, size_t bytes);

/* Writes to another thread's memory, at an aligned address. False: it is not there. Any context. */
bool stack_write(uint64_t address, uint32_t value);

/* unwind_env.read; arg is a struct stack_probe, which nobody else uses meanwhile. Signal context.
 */
bool stack_read(void *arg, uint64_t address, uint64_t *word);

#endif
