/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * syscall_code.h - finds by its code which system call an interrupted thread had made, on x86-64.
 *
 * The kernel's answer replaces the call's number in its register and the signal frame does not keep
 * the number. It stands in the code, where compilers put it: right before the `syscall`
 * instruction, or with what sets argument registers between; or in another register.
 */
#ifndef HCCT_SYSCALL_CODE_H
#define HCCT_SYSCALL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define SYSCALL_CODE_REACH 24 /* bytes before the instruction that are read, at most */

/* The number loaded by the code that ends at `end`, where the `syscall` instruction begins;
 * `before` bytes before `end` can be read. -1: it is not known. Any context, no side effects. */
long syscall_code_number(const uint8_t *end, size_t before);

/* The number of the register that holds it, which the kernel leaves as it is, when the code that
 * ends at `end` moves it from there: compilers do so where a call stands in a loop. -1: none. As
 * above. */
int syscall_code_register(const uint8_t *end, size_t before);

/* libc's syscall(), but that a handler can tell the number. Thread context, as that. */
long syscall_telling(long number, ...) __attribute__((visibility("hidden")));

/* The number of the call that syscall_telling has made when a signal finds the thread right behind
 * it; -1: the thread is elsewhere. Any context. */
long syscall_known(const ucontext_t *uc);

/* Whether `pc` is at the call of syscall_telling, or right behind it. Any context. */
bool syscall_is_telling(uint64_t pc);

#endif
