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
#include "preload/blocks/stops.h"
#include "preload/blocks/table.h"
#include "preload/events/link.h"

/* What the application calls stands in a part of the code of its own (preload/events/link.h). */
#define BLOCKS_WRAPPER hcct_export hcct_jumps __attribute__((section("hcct_blocks")))
/* The rest of such a function, which it jumps to: so the caller is the application here, too. */
#define BLOCKS_SLOWLY static hcct_noinline __attribute__((section("hcct_blocks")))

/* Of a thread: its clock is bytes. */
struct blocks_course {
    struct stops stops;
    /* for rate.h: its CPU time when it was noted last, and when that was, in the lowest bits */
    uint32_t cpu_us;
    uint16_t noted_ms;
    uint8_t unnoted; /* stops since the last one that was noted */
    bool begun;      /* one was */
};

extern __thread struct blocks_course blocks_course
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A block of that size was allocated: a point may lie in it. NULL: there is none. Keeps errno. */
void blocks_check(void *block, size_t size, const struct event_place *place);
/* A sampled block may be about to be freed. Keeps errno. */
void blocks_forget(void *block);

/* No point lies in so many bytes: they are passed, before there is a block. If there is none after
 * that, the next point comes that much sooner, of which it knows nothing. */
static inline bool blocks_passes(size_t size) {
    uint64_t length = size + blocks_course.stops.beside;
    bool passes = length < blocks_course.stops.course.left;
    if (hcct_likely(passes))
        blocks_course.stops.course.left -= length;
    return passes;
}

/* A sampled block may be about to be freed. */
static inline void blocks_leave(void *block) {
    if (table_may_have(block))
        blocks_forget(block);
}

#endif
