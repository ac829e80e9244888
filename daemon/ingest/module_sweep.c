/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_sweep.c - mark what processes have mapped, then what frames are in.
 *
 * In this order: a frame that is made meanwhile is in a module that its process had mapped, so that
 * it has been marked, or was interned during the sweep.
 */
#include "daemon/ingest/module_sweep.h"

#include <stdatomic.h>
#include <stddef.h>

#include "common/base/options.h"
#include "common/code/frame.h"
#include "common/code/module.h"
#include "daemon/ingest/registry.h"

#define NEARLY_FULL(max) ((max) / 4 * 3)

static _Atomic uint64_t sweeps;

static void mark_key(const struct frame_key *key) {
    module_mark(key->routine_module);
    if (key->site_module != key->routine_module)
        module_mark(key->site_module);
}

/* False: no memory. */
static bool mark_processes(void) {
    size_t n;
    struct process **list = registry_list(NULL, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&list[i]->lock);
        if (list[i]->addresses != NULL)
            addresses_each_module(list[i]->addresses, module_mark);
        pthread_mutex_unlock(&list[i]->lock);
    }
    registry_free_list(list, n);
    return list != NULL;
}

static void tell(void *unused, const struct module_usage *usage) {
    (void)unused;
    if (usage->uid == MODULE_NOBODY && usage->modules >= NEARLY_FULL(MODULES_MAX))
        complain("%u of %u modules that there may be are in use: code in what comes beyond has no "
                 "names",
                 usage->modules, MODULES_MAX);
    if (usage->uid != MODULE_NOBODY && usage->modules >= NEARLY_FULL(MODULES_USER_MAX))
        complain("programs of user %u have %u of %u modules that one user may have: code in what "
                 "comes beyond has no names",
                 (unsigned)usage->uid, usage->modules, MODULES_USER_MAX);
}

void module_sweep(void) {
    if (!module_sweep_is_due())
        return;
    module_sweep_begin();
    bool whole = mark_processes();
    if (whole)
        frame_each_key(mark_key);
    module_sweep_end(whole);
    atomic_fetch_add(&sweeps, 1);
    module_usage_all(tell, NULL);
}

uint64_t module_sweeps(void) {
    return atomic_load(&sweeps);
}
