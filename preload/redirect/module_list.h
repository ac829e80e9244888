/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_list.h - the modules that are redirected in this process. Private to this room.
 *
 * One that is there is whole, and stays in its place until its object has gone. Who changes the
 * list has begun a change (places.h); anybody may read it, at any time.
 */
#ifndef HCCT_REDIRECT_MODULE_LIST_H
#define HCCT_REDIRECT_MODULE_LIST_H

#include <dlfcn.h>

#include "preload/redirect/module.h"

#define MODULE_LIST_MAX 128u

struct module_list {
    struct redirect_module *_Atomic module; /* MODULE_LIST_MAX of them; NULL: none was ever made */
    _Atomic uint32_t used;                  /* of them */
};

extern struct module_list module_list;

/* No module was ever redirected. Any context. */
static inline bool module_list_is_empty(void) {
    return atomic_load(&module_list.module) == NULL;
}

/* The next module that is there; of NULL the first. NULL: there is no other. Any context. */
static inline struct redirect_module *module_list_next(const struct redirect_module *after) {
    uint32_t used = atomic_load_explicit(&module_list.used, memory_order_acquire);
    struct redirect_module *list = atomic_load(&module_list.module);
    for (uint32_t i = after == NULL ? 0 : (uint32_t)(after - list) + 1; i < used; i++)
        if (atomic_load(&list[i].there) != 0)
            return &list[i];
    return NULL;
}

/* A place for another one: it is unused, or its object has gone. NULL: there is none, or no memory
 * for a first one. Any context, in a change. */
struct redirect_module *module_list_place(void);
/* What was filled there is there from now on, and has a number that no other has. As above. */
void module_list_add(struct redirect_module *m);

/* The loader's answer for an address of the program. False: no object is there. Any context. */
bool module_object_at(uint64_t address, struct dl_find_object *found);

#endif
