/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table.h - which sampled blocks have not been freed, by address.
 *
 * Most calls of free ask only whether a byte is zero (table_may_have). A block has one of a few
 * neighbouring places, by its address, so nothing needs to be moved when one is freed. When none of
 * them is free, R is doubled (events/course.h) and all blocks are drawn again that were drawn by a
 * smaller one; each knows by which R it was drawn, so at any moment, also in the middle of that,
 * each counts for what is right for it. Blocks may also be drawn by a larger R than the table asks
 * for (rate.h): these stay.
 *
 * The daemon sees numbers and weights, in the session's memory (wire_block), and no address.
 *
 * No lock: any thread, and its signal handlers, may call anything at any time; of one block, as of
 * its memory, one thread at a time. Keeps errno.
 */
#ifndef HCCT_BLOCKS_TABLE_H
#define HCCT_BLOCKS_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/blocks/link.h"

#define TABLE_FILTER_SHIFT 17u

/* How many sampled blocks have an address of that hash, more or less. */
extern _Atomic uint8_t table_filter[1u << TABLE_FILTER_SHIFT] __attribute__((visibility("hidden")));

static inline uint64_t table_hash(const void *block) {
    return ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
}

static inline _Atomic uint8_t *table_filter_of(const void *block) {
    return &table_filter[table_hash(block) >> (64 - TABLE_FILTER_SHIFT)];
}

/* False: it is no sampled block. */
static inline bool table_may_have(const void *block) {
    return hcct_unlikely(atomic_load_explicit(table_filter_of(block), memory_order_relaxed) != 0);
}

/* A sampled block. */
struct table_block {
    uint64_t number; /* 0: none */
    void *address;
};

/* The block of that address. */
struct table_block table_find(void *address);
/* It is freed, or is about to be. None is allowed. */
void table_forget(struct table_block block);

#define TABLE_DOUBLED_MAX 20u

/* R is doubled so many times at least, so that the table has room. */
uint32_t table_doubled(void);
/* R, after that. */
static inline uint64_t table_mean(uint32_t doubled) {
    return wire_blocks_mean(doubled);
}

/* What a block was drawn by. */
struct table_size {
    uint64_t bytes, beside; /* its own; and the others that the clock had for it */
    uint32_t doubled;       /* R was, so many times */
    uint32_t usual;         /* ... and is by now, for places that allocate little */
};

/* A block that has a point: does it stay, where R is doubled so many times at least? Then it was
 * drawn by that. */
bool table_stays(struct table_size *its, uint32_t doubled, uint64_t *random);

/* A sampled block: sent to the agent, and followed. */
void table_add(void *address, const struct table_size *its, const struct event_place *place,
               uint64_t *random);

/* No block is known any more; one that another thread is about to add may be. R stays as it is. */
void table_renew(void);

/* In a child of fork: the blocks of its parent are not its own. */
void table_clear(void);

#endif
