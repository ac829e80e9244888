/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_number.h - which system call a thread is in, by its registers and the code before it.
 *
 * On x86-64 the kernel's answer takes the place of the number, so the code is searched for who put
 * it there; on aarch64 it stays in a register of its own.
 */
#ifndef HCCT_SAMPLE_CALL_NUMBER_H
#define HCCT_SAMPLE_CALL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define CALL_NUMBER_CODE_BYTES 32u /* before the end of the instruction: as far as is searched */

/* Of a call that has been answered. `code`: the n bytes that end with the instruction that made it.
 * A number that no call has: not known. Signal context. */
uint64_t call_number_behind(const uint8_t *code, size_t n, const ucontext_t *uc);

/* Of a call that will be made again: the kernel has put it back. Signal context. */
uint64_t call_number_at(const ucontext_t *uc);

/* The agent makes a call there for the program, and says which. Signal context. */
bool call_number_is_given(uint64_t pc);

#endif
