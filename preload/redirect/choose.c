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
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/wire/call_choice.h"
#include "preload/encode/slot.h"
#include "preload/encode/unwinder.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/redirect/dynamic.h"
#include "preload/redirect/form.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/stub.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"

static const struct redirect_form *form; /* NULL: nothing is meant */

/* The agent and its signal handler run in the first ones; libc closes the others past dlclose. */
#define NEVER                                                                                      \
    "ld-linux*,ld-musl*,linux-vdso*,libc.so*,libpthread.so*,libdl.so*,librt.so*,libhcctagent.so*," \
    "libnss_*,*/gconv/*"

/* ---- a program that reports its calls ---- */

#define HOOK "__cyg_profile_func_enter"

/* The first object is the program. */
static int read_program(struct dl_phdr_info *info, size_t size, void *arg) {
    struct dynamic d = {0};
    bool *reports = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic_read((const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &d);
    *reports = dynamic_needs(&d, HOOK);
    return 1;
}

/* To the agent, or to functions of its own. */
static bool program_reports(void) {
    bool reports = false;
    libc_iterate_objects(read_program, &reports);
    return reports || symbol_beside((const void *)libc_getauxval(AT_ENTRY), HOOK) == SYMBOL_THERE;
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
static void take_import(void *arg, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                        const char *name) {
    const uint64_t *bias = arg;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
        note_imported(*(const uint64_t *)(*bias + relocation->r_offset), name);
}

static void find_interposers(void) {
    struct dl_find_object own;
    struct dynamic d = {0};
    if (real_dl_find_object((void *)(uintptr_t)redirect_start, &own) != 0)
        return;
    uint64_t bias = own.dlfo_link_map->l_addr;
    dynamic_read(own.dlfo_link_map->l_ld, &d);
    dynamic_imports(&d, take_import, &bias);
}

void redirect_start(void) {
    if (agent.settings.encode)
        form = unwinder_knows_slots() ? slot_form() : NULL;
    else if (agent.settings.collector == WIRE_COLLECT_CALLS && stub_start() &&
             (agent.settings.modules[0] != '\0' || !program_reports()))
        form = &redirect_stub_form;
    if (form != NULL)
        find_interposers();
}

bool redirect_is_meant(void) {
    return form != NULL;
}

const struct redirect_form *redirect_form(void) {
    return form;
}

/* ---- names ---- */

static _Atomic bool opened_apart;

void redirect_opens_apart(void) {
    atomic_store(&opened_apart, true);
}

/* What an exception passes there on its way is not lost. */
static bool may_unwind(uint64_t code) {
    return !agent.settings.encode || (!atomic_load(&opened_apart) && !unwinder_is_in(code));
}

bool redirect_means(const char *path, uint64_t code) {
    return form != NULL && !modules_is_agent(code) && !call_choice(NEVER, path) &&
           call_choice(agent.settings.modules, path) && may_unwind(code);
}

/* The program itself has an empty name. */
bool redirect_means_at(uint64_t code) {
    struct dl_find_object found;
    if (real_dl_find_object((void *)code, &found) != 0 || found.dlfo_link_map->l_name == NULL)
        return false;
    const char *name = found.dlfo_link_map->l_name;
    return redirect_means(name[0] != '\0' ? name : agent.command, code);
}
