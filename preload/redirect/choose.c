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

static bool meant;

/* ---- a program that reports its calls ---- */

#define HOOK "__cyg_profile_func_enter"

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash;
};

static void read_dynamic(const ElfW(Dyn) * entry, struct dynamic *d) {
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            d->symbols = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            d->names = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_GNU_HASH)
            d->hash = (const void *)entry->d_un.d_ptr;
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

void redirect_start(void) {
    meant = agent.settings.collector == WIRE_COLLECT_CALLS && stub_start() &&
            (agent.settings.modules[0] != '\0' || !program_reports());
}

bool redirect_is_meant(void) {
    return meant;
}

/* ---- names ---- */

/* The agent and its signal handler run in the first ones; libc closes the others past dlclose. */
#define NEVER                                                                                      \
    "ld-linux*,ld-musl*,linux-vdso*,libc.so*,libpthread.so*,libdl.so*,librt.so*,libhcctagent.so*," \
    "libnss_*,*/gconv/*"

bool redirect_means(const char *path, uint64_t code) {
    return meant && !modules_is_agent(code) && !call_choice(NEVER, path) &&
           call_choice(agent.settings.modules, path);
}
