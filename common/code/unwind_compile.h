/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_compile.h - .eh_frame to compact unwind table (common/wire/unwind_table.h).
 *
 * elfutils finds and parses the unwind entries (dwarf_next_cfi); the call frame instructions are
 * run here, once each, as asking dwarf_cfi_addrframe for each row would run them again and again.
 * The tests compare each row with dwarf_cfi_addrframe.
 *
 * Runs in the worker child. Only unwind_table_check is for the daemon itself.
 */
#ifndef HCCT_UNWIND_COMPILE_H
#define HCCT_UNWIND_COMPILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers of the registers that a rule may name are below this. */
#define UNWIND_REGISTERS_MAX 32

/* Why a row has no rule, or an entry no row. */
enum unwind_lack {
    UNWIND_LACK_CFA,     /* the frame address is too rich for a rule */
    UNWIND_LACK_RA,      /* the return address is */
    UNWIND_LACK_RULES,   /* the module has more different rules than a table can hold */
    UNWIND_LACK_PROGRAM, /* the entry's instructions are broken or unknown: one row for all of it */
    UNWIND_LACK_ENTRY,   /* the entry itself is not to be read, or is outside the code: no row */
    UNWIND_LACKS
};

struct unwind_account {
    uint64_t entries; /* that gave rows */
    uint64_t rows;    /* with a rule and without, gaps not counted */
    uint64_t lack[UNWIND_LACKS];
};

/* The table of `elf`, malloc'ed, or NULL when it has no usable .eh_frame. `account`, when not NULL,
 * is filled in either case. */
void *unwind_compile(Elf *elf, size_t *bytes, struct unwind_account *account);

/* True when a table of `bytes` bytes is consistent: every offset and index is within it, rows are
 * sorted, blocks point where they should, `back` never leads before the first row. */
bool unwind_table_check(const void *table, size_t bytes);

#endif
