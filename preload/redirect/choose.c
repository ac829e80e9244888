/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * choose.c - which modules are meant: the program and libraries of its own, or what HCCT_MODULES
 * says.
 *
 * A program that reports its calls itself (-finstrument-functions) is left to do so, with its
 * libraries, unless HCCT_MODULES is set. The C library and the loader are never meant, as the agent
 * itself runs in them, and neither is the agent; nor what libc loads and closes in its own way.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/wire/call_choice.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"

static bool meant;

/* The agent and its signal handler run in the first ones; libc closes the others past dlclose. */
#define NEVER                                                                                      \
    "ld-linux*,ld-musl*,linux-vdso*,libc.so*,libpthread.so*,libdl.so*,librt.so*,libhcctagent.so*," \
    "libnss_*,*/gconv/*"

/* ---- a program that reports its calls ---- */

#define HOOK "__cyg_profile_func_enter"

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash;
    const ElfW(Rela) * relocations, *plt_relocations;
    uint64_t relocations_bytes, plt_relocations_bytes;
};

static void read_dynamic(const ElfW(Dyn) * entry, struct dynamic *d) {
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
        else if (entry->d_tag == DT_JMPREL)
            d->plt_relocations = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_PLTRELSZ)
            d->plt_relocations_bytes = entry->d_un.d_val;
    }
}

/* Symbols that a module needs come before those that it has, which a hash table counts from. */
static bool needs(const struct dynamic *d, const char *name) {
    if (d->symbols == NULL || d->names == NULL || d->hash == NULL)
        return false;
    for (uint32_t i = 1; i < d->hash[1]; i++)
        if (strcmp(d->names + d->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

/* The first object is the program. */
static int read_program(struct dl_phdr_info *info, size_t size, void *arg) {
    struct dynamic d = {0};
    bool *reports = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic((const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &d);
    *reports = needs(&d, HOOK);
    return 1;
}

/* To the agent, or to functions of its own. */
static bool program_reports(void) {
    bool reports = false;
    dl_iterate_phdr(read_program, &reports);
    return reports || symbol_beside((const void *)getauxval(AT_ENTRY), HOOK) == SYMBOL_THERE;
}

/* ---- objects that the agent calls ---- */

#define INTERPOSERS_MAX 16 /* more would be odd; what is left of them is not known here */

static uint64_t interposer[INTERPOSERS_MAX]; /* where they begin */

bool redirect_is_interposer(uint64_t start) {
    unsigned i = 0;
    while (i < INTERPOSERS_MAX && interposer[i] != start)
        i++;
    return i < INTERPOSERS_MAX;
}

/* Not what only has an entry of its own PLT as the function's address. */
static void note_imported(uint64_t function, const char *name) {
    struct dl_find_object found;
    unsigned i = 0;
    if (real_dl_find_object((void *)function, &found) != 0 || modules_is_agent(function) ||
        call_choice(NEVER, found.dlfo_link_map->l_name) ||
        symbol_beside((const void *)function, name) != SYMBOL_THERE)
        return;
    uint64_t start = (uintptr_t)found.dlfo_map_start;
    while (i < INTERPOSERS_MAX && interposer[i] != 0 && interposer[i] != start)
        i++;
    if (i < INTERPOSERS_MAX)
        interposer[i] = start;
}

/* All are bound. */
static void note_imports(const struct dynamic *d, uint64_t bias, const ElfW(Rela) * relocation,
                         uint64_t bytes) {
    for (uint64_t i = 0; i < bytes / sizeof *relocation; i++) {
        const ElfW(Sym) *symbol = &d->symbols[ELF64_R_SYM(relocation[i].r_info)];
        if (ELF64_R_SYM(relocation[i].r_info) != 0 && symbol->st_shndx == SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            note_imported(*(const uint64_t *)(bias + relocation[i].r_offset),
                          d->names + symbol->st_name);
    }
}

static void find_interposers(void) {
    struct dl_find_object own;
    struct dynamic d = {0};
    if (real_dl_find_object((void *)(uintptr_t)redirect_start, &own) != 0)
        return;
    read_dynamic(own.dlfo_link_map->l_ld, &d);
    note_imports(&d, own.dlfo_link_map->l_addr, d.relocations, d.relocations_bytes);
    note_imports(&d, own.dlfo_link_map->l_addr, d.plt_relocations, d.plt_relocations_bytes);
}

void redirect_start(void) {
    meant = agent.settings.collector == WIRE_COLLECT_CALLS && stub_start() &&
            (agent.settings.modules[0] != '\0' || !program_reports());
    if (meant)
        find_interposers();
}

bool redirect_is_meant(void) {
    return meant;
}

/* ---- names ---- */

bool redirect_means(const char *path, uint64_t code) {
    return meant && !modules_is_agent(code) && !call_choice(NEVER, path) &&
           call_choice(agent.settings.modules, path);
}
