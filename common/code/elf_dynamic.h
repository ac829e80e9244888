/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_dynamic.h - what an ELF object says to the dynamic loader: by its program headers alone, as a
 * section table may be missing.
 *
 * All bytes are untrusted: nothing is read outside the file's segments. Runs in the worker child,
 * and in the client for the user's own program.
 */
#ifndef HCCT_ELF_DYNAMIC_H
#define HCCT_ELF_DYNAMIC_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_dynamic {
    Elf *elf;
    bool is_there;         /* it has a dynamic section */
    bool names_loader;     /* PT_INTERP */
    bool is_program;       /* position-independent, but no library */
    bool text_relocations; /* the loader writes into segments that are not writable */
    uint64_t strings, strings_size, symbols;
    uint64_t table[2], table_size[2]; /* relocations: of procedure linkage, and all others */
};

/* False: `elf` can't be read. */
bool elf_dynamic_read(Elf *elf, struct elf_dynamic *found);

/* The bytes that the file has from that address on, up to the end of its segment: *n of them. NULL:
 * none. Owned by the Elf, in no alignment. */
const uint8_t *elf_bytes_from(Elf *elf, uint64_t address, uint64_t *n);

/* A relocation, and the name of its symbol ("": none). False ends the visit. */
typedef bool elf_relocation_visit(void *arg, const Elf64_Rela *relocation, const char *symbol);

/* Visits all relocations; 64-bit objects only. */
void elf_dynamic_relocations(const struct elf_dynamic *dynamic, elf_relocation_visit *visit,
                             void *arg);

/* A symbol that the object defines, at which address. False ends the visit. */
typedef bool elf_symbol_visit(void *arg, const char *name, uint64_t address);

/* Visits what the section table's symbol tables define. */
void elf_defined_symbols(Elf *elf, elf_symbol_visit *visit, void *arg);

#endif
