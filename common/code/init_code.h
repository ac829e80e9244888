/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init_code.h - the code of _init and _fini: where it is, and what the stack is like in it.
 *
 * The sections .init and .fini are put together by the linker from pieces of several object files,
 * the first and the last of which (crti.o, crtn.o) hold the beginning and the end of a function. No
 * .eh_frame entry covers it. On x86-64 the function is so simple that its bytes tell: it lowers the
 * stack pointer by one word, calls, and raises it again. Other machines' code keeps a frame
 * pointer.
 *
 * Only code of which each instruction is known is taken: else nothing is said, never a wrong stack.
 * Runs in the worker child.
 */
#ifndef HCCT_INIT_CODE_H
#define HCCT_INIT_CODE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INIT_CODES_MAX 2 /* of one object */
#define INIT_CODE_WORD 8 /* bytes: what a call pushes, and by what the stack pointer is lowered */

/* Bytes count from the start of the section. The stack pointer is one word lower in [lowered,
 * raised); before and after, the return address is on top of the stack. */
struct init_code {
    uint32_t lowered;
    uint32_t raised;
    uint32_t end; /* of the section */
};

/* The code that a section's bytes are. False: not that of _init or _fini, or not known as such. */
bool init_code_read(const uint8_t *bytes, size_t n, struct init_code *code);

/* The canonical frame address minus the stack pointer, in bytes, before the instruction at `offset`
 * is executed; the return address is the word below it. 0: not in the code. */
uint32_t init_code_frame(const struct init_code *code, uint64_t offset);

struct init_section {
    uint64_t address; /* in the file */
    struct init_code code;
};

/* Finds them in `elf` by its section table. Returns how many there are: 0 on machines other than
 * x86-64. */
unsigned init_code_find(Elf *elf, struct init_section found[INIT_CODES_MAX]);

#endif
