/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_list.c - the modules that are redirected in this process.
 */
#include "preload/redirect/module_list.h"

#include <sys/mman.h>

#include "preload/life/memory.h"
#include "preload/wrap/real.h"

struct module_list module_list;

static uint32_t numbers; /* given to modules */

struct redirect_module *module_list_place(void) {
    if (module_list_is_empty())
        atomic_store(&module_list.module,
                     memory_map(MODULE_LIST_MAX * sizeof(struct redirect_module),
                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    struct redirect_module *list = atomic_load(&module_list.module);
    for (uint32_t i = 0; list != NULL && i < MODULE_LIST_MAX; i++)
        if (atomic_load(&list[i].there) == 0)
            return &list[i];
    return NULL;
}

void module_list_add(struct redirect_module *m) {
    uint32_t n = (uint32_t)(m - atomic_load(&module_list.module)) + 1;
    atomic_store(&m->there, ++numbers);
    if (atomic_load(&module_list.used) < n)
        atomic_store(&module_list.used, n);
}

bool module_object_at(uint64_t address, struct dl_find_object *found) {
    return real_dl_find_object((void *)address, found) == 0;
}
