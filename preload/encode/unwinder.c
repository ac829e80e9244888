/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwinder.c - an unwinder asks for unwind entries, and nobody else does both that and not call
 * one.
 */
#include "preload/encode/unwinder.h"

#include <dlfcn.h>
#include <string.h>

#include "common/wire/call_choice.h"
#include "preload/life/modules.h"
#include "preload/redirect/dynamic.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/real.h"

/* Objects that have none, and of which one is not to be read like others. */
#define NONE_THERE "ld-linux*,linux-vdso*,libc.so*"
#define LIBGCC     "libgcc_s.so*"

struct asked {
    bool object, iterate; /* _dl_find_object, dl_iterate_phdr */
    bool unwinder;        /* functions of one that is elsewhere */
};

static void take(void *arg, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                 const char *name) {
    struct asked *asked = arg;
    (void)relocation, (void)symbol;
    asked->object |= strcmp(name, "_dl_find_object") == 0;
    asked->iterate |= strcmp(name, "dl_iterate_phdr") == 0;
    asked->unwinder |= strncmp(name, "_Unwind_", 8) == 0;
}

static struct asked ask(const ElfW(Dyn) * entry) {
    struct dynamic dynamic = {0};
    struct asked asked = {0};
    dynamic_read(entry, &dynamic);
    dynamic_imports(&dynamic, take, &asked);
    return asked;
}

static bool is_one(const struct asked *asked) {
    return (asked->object || asked->iterate) && !asked->unwinder;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg) {
    const ElfW(Dyn) *entry = dynamic_of(info);
    bool *knows = arg;
    (void)size;
    if (entry == NULL || modules_is_agent((uintptr_t)entry) ||
        call_choice(NONE_THERE, info->dlpi_name))
        return 0;
    struct asked asked = ask(entry);
    bool libgcc = call_choice(LIBGCC, info->dlpi_name);
    *knows = *knows && (libgcc ? asked.object : !is_one(&asked));
    return 0;
}

bool unwinder_knows_slots(void) {
    bool knows = true;
    libc_iterate_objects(look, &knows);
    return knows;
}

bool unwinder_is_in(uint64_t code) {
    struct dl_find_object found;
    if (real_dl_find_object((void *)code, &found) != 0 || found.dlfo_link_map->l_ld == NULL)
        return true;
    struct asked asked = ask(found.dlfo_link_map->l_ld);
    return is_one(&asked);
}
