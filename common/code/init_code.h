/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init_code.h - the code of _init, _fini and _start, where no .eh_frame entry covers it: where it
 * is, and what the stack is like in it.
 *
 * The sections .init and .fini are put together by the linker from pieces of several object files,
 * the first and the last of which (crti.o, crtn.o) hold the beginning and the end of a function. No
 * .eh_frame entry covers it. The function is so simple that its bytes tell: on x86-64 it lowers the
 * stack pointer by one word, calls, and raises it again; on aarch64 it saves frame pointer and
 * return address, calls, and loads them again.
 *
 * _start has an entry that says that nobody has called it, but on aarch64 not in older
 * versions of glibc: in programs that were linked with one, all stacks would end without a rule.
 * There it clears frame pointer and link register, and calls __libc_start_main and abort.
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

#define INIT_CODES_MAX 3 /* of one object */
#define INIT_CODE_WORD 8 /* bytes: of an address */

/* Bytes count from the start of the code. The stack pointer is lower in [lowered, raised). */
struct init_code {
    uint32_t lowered;
    uint32_t raised;
    uint32_t end;
    uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
    bool is_start;    /* _start, which nobody has called: there is no more to know */
};

/* What the stack is like before an instruction is executed. */
struct init_frame {
    uint32_t cfa;  /* the canonical frame address, minus the stack pointer, in bytes */
    bool ra_saved; /* the return address is the word below it; else it is in its register */
    bool fp_saved; /* the caller's frame pointer is the word below that; else it is unchanged */
};

/* The code of `machine` that a section's bytes are. False: not that of _init or _fini, or not known
 * as such. */
bool init_code_read(uint16_t machine, const uint8_t *bytes, size_t n, struct init_code *code);

/* The code at an entry point, up to the end of its section. False: not that of _start of aarch64.
 */
bool init_code_read_start(uint16_t machine, const uint8_t *bytes, size_t n, struct init_code *code);

/* Before the instruction at `offset` of _init or _fini. False: that is not in the code. */
bool init_code_frame(const struct init_code *code, uint64_t offset, struct init_frame *frame);

struct init_section {
    uint64_t address; /* in the file */
    struct init_code code;
};

/* Finds them in `elf` by its section table and its entry point. Returns how many there are: 0 on
 * other machines. */
unsigned init_code_find(Elf *elf, struct init_section found[INIT_CODES_MAX]);

#endif
