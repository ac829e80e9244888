/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_object.c - sections, symbols and names are copied, and the copies are read.
 */
#include "common/code/jit_object.h"

#include <elf.h>
#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/seeded_hash.h"

#define SECTIONS_MAX 65536u

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define DATA ELFDATA2LSB
#else
#define DATA ELFDATA2MSB
#endif

struct object {
    const struct jit_bytes *bytes;
    uint64_t *budget;
    Elf64_Ehdr header;
    Elf64_Shdr *section; /* owned */
    uint32_t sections;
};

/* The symbols of one table, and their names, which are terminated. */
struct symbols {
    Elf64_Sym *symbol; /* owned */
    uint64_t n;
    char *names; /* owned */
    uint64_t names_bytes;
};

bool jit_bytes_read(const struct jit_bytes *bytes, uint64_t offset, void *into, uint64_t n) {
    if (offset > bytes->size || n > bytes->size - offset ||
        bytes->at > (uint64_t)INT64_MAX - offset || n > SSIZE_MAX)
        return false;
    return pread(bytes->fd, into, n, (off_t)(bytes->at + offset)) == (ssize_t)n;
}

/* A copy of a part of the object with a NUL behind it, malloc'ed. NULL: it can't be read. */
static void *copy(const struct object *object, uint64_t offset, uint64_t n) {
    if (n > JIT_OBJECT_BYTES_MAX || offset > object->bytes->size ||
        n > object->bytes->size - offset)
        return NULL;
    char *into = malloc(n + 1);
    if (into == NULL)
        return NULL;
    *object->budget -= n < *object->budget ? n : *object->budget;
    if (!jit_bytes_read(object->bytes, offset, into, n)) {
        free(into);
        return NULL;
    }
    into[n] = '\0';
    return into;
}

/* The first section says how many there are when the header has no room for that. */
static uint64_t count_sections(const struct object *object) {
    Elf64_Shdr first;
    if (object->header.e_shnum != 0)
        return object->header.e_shnum;
    return jit_bytes_read(object->bytes, object->header.e_shoff, &first, sizeof first)
               ? first.sh_size
               : 0;
}

/* False: this is no such object. To be closed in any case. */
static bool open_object(struct object *object, const struct jit_bytes *bytes, uint64_t *budget) {
    *object = (struct object){.bytes = bytes, .budget = budget};
    Elf64_Ehdr *header = &object->header;
    if (!jit_bytes_read(bytes, 0, header, sizeof *header) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != DATA || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff == 0)
        return false;
    uint64_t n = count_sections(object);
    if (n == 0 || n > SECTIONS_MAX)
        return false;
    object->sections = (uint32_t)n;
    object->section = copy(object, header->e_shoff, n * sizeof(Elf64_Shdr));
    return object->section != NULL;
}

static void close_symbols(struct symbols *symbols) {
    free(symbols->symbol);
    free(symbols->names);
}

/* The symbols of section `i`, if it has some. False: none. To be closed in any case. */
static bool read_symbols(const struct object *object, uint32_t i, struct symbols *symbols) {
    const Elf64_Shdr *section = &object->section[i];
    *symbols = (struct symbols){0};
    if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) ||
        section->sh_entsize != sizeof(Elf64_Sym) || section->sh_link >= object->sections)
        return false;
    const Elf64_Shdr *names = &object->section[section->sh_link];
    if (names->sh_type != SHT_STRTAB)
        return false;
    symbols->n = section->sh_size / sizeof(Elf64_Sym);
    symbols->names_bytes = names->sh_size;
    symbols->symbol = copy(object, section->sh_offset, symbols->n * sizeof(Elf64_Sym));
    symbols->names =
        symbols->symbol != NULL ? copy(object, names->sh_offset, names->sh_size) : NULL;
    return symbols->names != NULL;
}

/* ---- the functions of an object in memory ---- */

/* In an object that can be linked (ET_REL) a symbol counts from its section, and a section that was
 * not loaded is at 0; in others a symbol is an address. 0: not known. */
static uint64_t address_of(const struct object *object, const Elf64_Sym *symbol) {
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= object->sections)
        return 0;
    if (object->header.e_type != ET_REL)
        return symbol->st_value;
    const Elf64_Shdr *section = &object->section[symbol->st_shndx];
    if (section->sh_addr == 0 || symbol->st_value > section->sh_size ||
        symbol->st_size > section->sh_size - symbol->st_value)
        return 0;
    return section->sh_addr + symbol->st_value;
}

static void add_functions(const struct object *object, const struct symbols *symbols,
                          struct perf_map *map) {
    for (uint64_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *symbol = &symbols->symbol[i];
        uint64_t address = address_of(object, symbol);
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || address == 0 || symbol->st_size == 0 ||
            symbol->st_name >= symbols->names_bytes)
            continue;
        const char *name = symbols->names + symbol->st_name;
        perf_map_add(map, address, symbol->st_size, name, strlen(name));
    }
}

static uint64_t print_of(const struct object *object, const struct symbols *symbols) {
    uint64_t print = seeded_hash_bytes(object->header.e_type, object->section,
                                       object->sections * sizeof *object->section);
    print = seeded_hash_bytes(print, symbols->symbol, symbols->n * sizeof *symbols->symbol);
    return seeded_hash_bytes(print, symbols->names, symbols->names_bytes) | 1;
}

bool jit_object_functions(const struct jit_bytes *bytes, struct perf_map *map, uint64_t *print,
                          uint64_t *budget) {
    struct object object = {0};
    struct symbols symbols;
    uint64_t before = *print;
    *print = 0;
    if (*budget > 0 && open_object(&object, bytes, budget))
        for (uint32_t i = 0; i < object.sections && *print == 0; i++) {
            if (object.section[i].sh_type != SHT_SYMTAB)
                continue;
            if (read_symbols(&object, i, &symbols)) {
                *print = print_of(&object, &symbols);
                if (*print != before)
                    add_functions(&object, &symbols, map);
            }
            close_symbols(&symbols);
        }
    free(object.section);
    return *print != 0 && *print != before;
}

/* ---- a variable ---- */

static uint64_t find_variable(const struct symbols *symbols, const char *name, uint64_t bytes) {
    for (uint64_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *symbol = &symbols->symbol[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size == bytes &&
            symbol->st_shndx != SHN_UNDEF && symbol->st_name < symbols->names_bytes &&
            strcmp(symbols->names + symbol->st_name, name) == 0)
            return symbol->st_value;
    }
    return 0;
}

uint64_t jit_object_variable(const struct jit_bytes *bytes, const char *name, uint64_t size,
                             uint64_t *budget) {
    struct object object = {0};
    struct symbols symbols;
    uint64_t found = 0;
    if (open_object(&object, bytes, budget))
        for (uint32_t i = 0; i < object.sections && found == 0; i++) {
            if (read_symbols(&object, i, &symbols))
                found = find_variable(&symbols, name, size);
            close_symbols(&symbols);
        }
    free(object.section);
    return found;
}
