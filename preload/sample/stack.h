/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack.h - reading memory that may not be there.
 *
 * A thread's own stack, from the stack pointer up, can be read directly. Anything else (a
 * coroutine's stack, an alternate signal stack, what a broken register points to) is probed a page
 * at a time by a system call that fails cleanly on a bad address; never by catching a fault.
 */
#ifndef HCCT_STACK_H
#define HCCT_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct stack_probe {
    uint64_t page[4]; /* pages that were found readable, 0: none; a walk reads code and stack */
};

/* Whether the word at an aligned address can be read: a system call. Any context. */
bool stack_is_readable(uint64_t address);

/* unwind_env.read; arg is a struct stack_probe. Signal context. */
bool stack_read(void *arg, uint64_t address, uint64_t *word);

#endif
