/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_table.h - a module's ELF symbols by address.
 *
 * From .symtab, of the debug file when there is one, else from .dynsym, and from .gnu_debugdata:
 * whatever libdwfl finds. Of the many names that one address may have, the one is kept that the
 * programmer is most likely to know.
 * Runs in the worker child.
 */
#ifndef HCCT_SYMBOL_TABLE_H
#define HCCT_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct code_symbol {
    uint64_t start;
    uint64_t end;      /* first address after it; for a symbol without a size, of the next one */
    uint64_t reach;    /* the highest `end` up to here */
    const char *name;  /* owned by the Dwfl_Module */
    bool end_is_given; /* the symbol has a size */
};

struct symbol_table {
    struct code_symbol *symbols; /* by start; no two are the same */
    size_t n;
};

/* An empty table when the module has no symbols or memory runs out. */
void symbol_table_load(struct symbol_table *table, Dwfl_Module *module);
void symbol_table_clear(struct symbol_table *table);

/* The symbol that covers `address`, or NULL. */
const struct code_symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

#endif
