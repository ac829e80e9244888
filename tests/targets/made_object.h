/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * made_object.h - an ELF object made by hand, as programs with a just-in-time compiler register it
 * for their debugger: functions in a section that has been loaded, and their symbols.
 */
#ifndef HCCT_TESTS_MADE_OBJECT_H
#define HCCT_TESTS_MADE_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MADE_FUNCTIONS_MAX 8u
#define MADE_NAMES_BYTES   512u

struct made_function {
    const char *name;
    uint64_t at, bytes; /* in the section */
};

struct made_object {
    Elf64_Ehdr header;
    Elf64_Shdr section[4]; /* none, code, symbols, names */
    Elf64_Sym symbol[1 + MADE_FUNCTIONS_MAX];
    char names[MADE_NAMES_BYTES];
};

/* Of code that lies at `at`. */
static inline void make_object(struct made_object *object, uint64_t at, uint64_t bytes,
                               const struct made_function *function, unsigned n) {
    size_t used = 1;
    memset(object, 0, sizeof *object);
    object->header = (Elf64_Ehdr){.e_type = ET_REL,
                                  .e_machine = EM_X86_64,
                                  .e_version = EV_CURRENT,
                                  .e_ehsize = sizeof(Elf64_Ehdr),
                                  .e_shoff = offsetof(struct made_object, section),
                                  .e_shentsize = sizeof(Elf64_Shdr),
                                  .e_shnum = 4};
    memcpy(object->header.e_ident, ELFMAG, SELFMAG);
    object->header.e_ident[EI_CLASS] = ELFCLASS64;
    object->header.e_ident[EI_DATA] = ELFDATA2LSB;
    object->header.e_ident[EI_VERSION] = EV_CURRENT;
    object->section[1] = (Elf64_Shdr){.sh_type = SHT_NOBITS,
                                      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .sh_addr = at,
                                      .sh_size = bytes};
    for (unsigned i = 0; i < n; i++) {
        object->symbol[1 + i] = (Elf64_Sym){.st_name = (uint32_t)used,
                                            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                            .st_shndx = 1,
                                            .st_value = function[i].at,
                                            .st_size = function[i].bytes};
        strcpy(object->names + used, function[i].name);
        used += strlen(function[i].name) + 1;
    }
    object->section[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                      .sh_offset = offsetof(struct made_object, symbol),
                                      .sh_size = (1 + n) * sizeof(Elf64_Sym),
                                      .sh_entsize = sizeof(Elf64_Sym),
                                      .sh_link = 3,
                                      .sh_info = 1};
    object->section[3] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made_object, names), .sh_size = used};
}

/* ---- as gdb's manual has it ("JIT Compilation Interface") ---- */

struct jit_code_entry {
    struct jit_code_entry *next_entry, *prev_entry;
    const void *symfile_addr;
    uint64_t symfile_size;
};

struct jit_descriptor {
    uint32_t version, action_flag;
    struct jit_code_entry *relevant_entry, *first_entry;
};

#endif
