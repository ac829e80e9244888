/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "preload/redirect/dynamic.h"

#include <elf.h>
#include <string.h>

void dynamic_read(const ElfW(Dyn) * entry, struct dynamic *d) {
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            d->symbols = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            d->names = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_GNU_HASH)
            d->hash = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_RELA)
            d->relocations = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_RELASZ)
            d->relocations_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELACOUNT)
            d->relative = entry->d_un.d_val;
        else if (entry->d_tag == DT_JMPREL)
            d->plt_relocations = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_PLTRELSZ)
            d->plt_relocations_bytes = entry->d_un.d_val;
    }
}

/* Symbols that a module needs come before those that it has, which a hash table counts from. */
bool dynamic_needs(const struct dynamic *d, const char *name) {
    if (d->symbols == NULL || d->names == NULL || d->hash == NULL)
        return false;
    for (uint32_t i = 1; i < d->hash[1]; i++)
        if (strcmp(d->names + d->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

/* `own`: of what the object itself defines, too. */
static void imports_of(const struct dynamic *d, bool own, const ElfW(Rela) * relocation,
                       uint64_t first, uint64_t bytes,
                       void (*take)(void *arg, const ElfW(Rela) * relocation,
                                    const ElfW(Sym) * symbol, const char *name),
                       void *arg) {
    for (uint64_t i = first; i < bytes / sizeof *relocation; i++) {
        const ElfW(Sym) *symbol = &d->symbols[ELF64_R_SYM(relocation[i].r_info)];
        if (ELF64_R_SYM(relocation[i].r_info) != 0 && (own || symbol->st_shndx == SHN_UNDEF))
            take(arg, &relocation[i], symbol, d->names + symbol->st_name);
    }
}

static void references(const struct dynamic *d, bool own,
                       void (*take)(void *arg, const ElfW(Rela) * relocation,
                                    const ElfW(Sym) * symbol, const char *name),
                       void *arg) {
    if (d->symbols == NULL || d->names == NULL)
        return;
    imports_of(d, own, d->relocations, d->relative, d->relocations_bytes, take, arg);
    imports_of(d, own, d->plt_relocations, 0, d->plt_relocations_bytes, take, arg);
}

void dynamic_imports(const struct dynamic *d,
                     void (*take)(void *arg, const ElfW(Rela) * relocation,
                                  const ElfW(Sym) * symbol, const char *name),
                     void *arg) {
    references(d, false, take, arg);
}

void dynamic_references(const struct dynamic *d,
                        void (*take)(void *arg, const ElfW(Rela) * relocation,
                                     const ElfW(Sym) * symbol, const char *name),
                        void *arg) {
    references(d, true, take, arg);
}
