/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * allocate.h - what the functions that the application calls share: where they were called, and
 * that a block was allocated or is about to be freed.
 */
#ifndef HCCT_BLOCKS_ALLOCATE_H
#define HCCT_BLOCKS_ALLOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "preload/blocks/link.h"
#include "preload/blocks/table.h"

/* Of a thread. */
struct blocks_course {
    uint64_t left; /* bytes up to the next point, with the one that it lies in */
    uint64_t random;
    uint32_t doubled; /* the R by which that was drawn */
    bool begun;
};

extern __thread struct blocks_course blocks_course
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A point may lie in the block. Keeps errno. */
void blocks_check(void *block, size_t size, const struct blocks_place *place);
/* A sampled block may be about to be freed. Keeps errno. */
void blocks_forget(void *block);

/* A block of that size was allocated; NULL: it was not. */
static inline void blocks_pass(void *block, size_t size, const struct blocks_place *place) {
    if (hcct_likely(size < blocks_course.left))
        blocks_course.left -= size;
    else
        blocks_check(block, size, place);
}

static inline void blocks_leave(void *block) {
    if (table_may_have(block))
        blocks_forget(block);
}

/* Of the function that it stands in. */
#define BLOCKS_CALLER                                                                              \
    ((struct blocks_place){(uint64_t)(uintptr_t)__builtin_return_address(0),                       \
                           (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                             \
                           *(const uint64_t *)__builtin_frame_address(0)})

#endif
