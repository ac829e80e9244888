/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_dynamic.c - program headers, the dynamic section's entries, relocation tables, symbol tables.
 */
#include "common/code/elf_dynamic.h"

#include <string.h>

#include "common/wire/compiler.h"

/* Calls `visit` for each program header. False: they can't be read, or `visit` said so. */
static bool each_segment(Elf *elf, bool (*visit)(void *arg, const GElf_Phdr *segment), void *arg) {
    size_t n;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) == NULL || !visit(arg, &segment))
            return false;
    }
    return true;
}

/* ---- bytes by address ---- */

struct place {
    uint64_t address;
    uint64_t room; /* bytes from there to the end of the segment's; 0: not found yet */
    uint64_t offset;
};

static bool look_for_place(void *arg, const GElf_Phdr *segment) {
    struct place *place = arg;
    uint64_t into = place->address - segment->p_vaddr;
    if (segment->p_type != PT_LOAD || into >= segment->p_filesz)
        return true;
    place->room = segment->p_filesz - into;
    place->offset = segment->p_offset + into;
    return false;
}

const uint8_t *elf_bytes_from(Elf *elf, uint64_t address, uint64_t *n) {
    struct place place = {.address = address};
    each_segment(elf, look_for_place, &place);
    *n = place.room;
    if (place.room == 0 || place.offset > INT64_MAX)
        return NULL;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)place.offset, place.room, ELF_T_BYTE);
    return data != NULL ? data->d_buf : NULL;
}

/* ---- the dynamic section ---- */

static void note_entry(struct elf_dynamic *found, int64_t tag, uint64_t value) {
    const struct {
        int64_t tag;
        uint64_t *value;
    } values[] = {{DT_STRTAB, &found->strings},         {DT_STRSZ, &found->strings_size},
                  {DT_SYMTAB, &found->symbols},         {DT_JMPREL, &found->table[0]},
                  {DT_PLTRELSZ, &found->table_size[0]}, {DT_RELA, &found->table[1]},
                  {DT_RELASZ, &found->table_size[1]}};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(values); i++)
        if (values[i].tag == tag)
            *values[i].value = value;
    found->is_program |= tag == DT_FLAGS_1 && (value & DF_1_PIE) != 0;
    found->text_relocations |= tag == DT_TEXTREL || (tag == DT_FLAGS && (value & DF_TEXTREL) != 0);
}

static void read_entries(struct elf_dynamic *found, const GElf_Phdr *segment) {
    if (segment->p_offset > INT64_MAX)
        return;
    Elf_Data *data =
        elf_getdata_rawchunk(found->elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_DYN);
    for (int i = 0; data != NULL; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, i, &entry) == NULL || entry.d_tag == DT_NULL)
            return;
        note_entry(found, entry.d_tag, entry.d_un.d_val);
    }
}

static bool look_for_dynamic(void *arg, const GElf_Phdr *segment) {
    struct elf_dynamic *found = arg;
    found->names_loader |= segment->p_type == PT_INTERP;
    if (segment->p_type == PT_DYNAMIC && !found->is_there) {
        found->is_there = true;
        read_entries(found, segment);
    }
    return true;
}

bool elf_dynamic_read(Elf *elf, struct elf_dynamic *found) {
    *found = (struct elf_dynamic){.elf = elf};
    return each_segment(elf, look_for_dynamic, found);
}

/* ---- relocations ---- */

/* What names symbols, as far as the file has it. How many symbols there are is said nowhere: there
 * may be some up to the end of their segment. */
struct symbol_names {
    const uint8_t *symbols; /* NULL: there are none */
    const char *strings;    /* NULL: there are none, or they do not end */
    uint64_t n_symbols, strings_size;
};

static struct symbol_names find_names(const struct elf_dynamic *dynamic) {
    struct symbol_names names = {.strings_size = dynamic->strings_size};
    uint64_t symbols_bytes, strings_bytes;
    names.symbols = elf_bytes_from(dynamic->elf, dynamic->symbols, &symbols_bytes);
    names.n_symbols = names.symbols != NULL ? symbols_bytes / sizeof(Elf64_Sym) : 0;
    const uint8_t *strings = elf_bytes_from(dynamic->elf, dynamic->strings, &strings_bytes);
    if (strings != NULL && names.strings_size > 0 && names.strings_size <= strings_bytes &&
        strings[names.strings_size - 1] == '\0')
        names.strings = (const char *)strings;
    return names;
}

static const char *name_of(const struct symbol_names *names, uint64_t index) {
    Elf64_Sym symbol;
    if (index == 0 || index >= names->n_symbols || names->strings == NULL)
        return "";
    memcpy(&symbol, names->symbols + index * sizeof symbol, sizeof symbol);
    return symbol.st_name < names->strings_size ? names->strings + symbol.st_name : "";
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void elf_dynamic_relocations(const struct elf_dynamic *dynamic, elf_relocation_visit *visit,
                             void *arg) {
    struct symbol_names names = find_names(dynamic);
    for (size_t k = 0; k < HCCT_ARRAY_LEN(dynamic->table); k++) {
        uint64_t bytes;
        const uint8_t *table = elf_bytes_from(dynamic->elf, dynamic->table[k], &bytes);
        uint64_t n = smaller(bytes, dynamic->table_size[k]) / sizeof(Elf64_Rela);
        for (uint64_t i = 0; table != NULL && i < n; i++) {
            Elf64_Rela relocation;
            memcpy(&relocation, table + i * sizeof relocation, sizeof relocation);
            if (!visit(arg, &relocation, name_of(&names, ELF64_R_SYM(relocation.r_info))))
                return;
        }
    }
}

/* ---- symbols ---- */

static bool visit_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        elf_symbol_visit *visit, void *arg) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (symbol.st_shndx != SHN_UNDEF && name != NULL && !visit(arg, name, symbol.st_value))
            return false;
    }
    return true;
}

void elf_defined_symbols(Elf *elf, elf_symbol_visit *visit, void *arg) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
            !visit_table(elf, section, &header, visit, arg))
            return;
    }
}
