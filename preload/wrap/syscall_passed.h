/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * syscall_passed.h - which system call an interrupted thread had made in a function that makes any:
 * its number came as an argument, on x86-64.
 *
 * Such a function has moved the number to eax and something else to where it was. Its code is
 * followed from its beginning, which the call says whose return address is on the stack: it must
 * lead to the very instruction that was interrupted, with the very stack pointer, and without a
 * branch. Then it is certain from which argument the number was, and it is read where that still
 * stands: in another register, on the stack, or as a constant in the code before the call.
 */
#ifndef HCCT_SYSCALL_PASSED_H
#define HCCT_SYSCALL_PASSED_H

#include <stdbool.h>
#include <stdint.h>

/* A thread right behind a system call. */
struct syscall_site {
    uint64_t pc, sp;
    /* What a register holds, by its DWARF number. Not asked for those that the kernel changes. */
    uint64_t (*held)(void *arg, unsigned reg);
    /* An aligned word of the application's memory; false: not readable. */
    bool (*read)(void *arg, uint64_t address, uint64_t *word);
    void *arg;
};

/* The number; -1: it is not known. Takes some microseconds. Any context, no side effects but those
 * of the functions of `site`. */
long syscall_passed(const struct syscall_site *site);

#endif
