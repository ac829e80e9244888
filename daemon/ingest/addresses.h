/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * addresses.h - run-time addresses of one process to position-independent frames, once each.
 *
 * Owned by a process and used under its lock.
 */
#ifndef HCCT_ADDRESSES_H
#define HCCT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/code/raw_stack.h"
#include "common/wire/compiler.h"

struct addresses;
struct frame_user; /* code/frame.h */

/* Its frames will be those of that user. NULL: no memory. */
struct addresses *addresses_new(struct frame_user *frames);
void addresses_free(struct addresses *map);
uid_t addresses_uid(const struct addresses *map);

/* A module mapped at [start, end) from `generation` of the process's map on; then it hides older
 * ones that it overlaps. */
bool addresses_add(struct addresses *map, uint64_t start, uint64_t end, uint64_t bias,
                   uint32_t module, uint32_t generation);

/* Addresses are to be read by this generation of the map from now on: 0 at first. A daemon that is
 * behind reads an old stream with a map that has moved on. */
void addresses_at(struct addresses *map, uint32_t generation);

/* From now on an address in no module is generated code of that process and goes by its function's
 * name (jit_code.h); until then it keeps its run-time value. False: no memory. */
bool addresses_name_generated(struct addresses *map, pid_t pid, uid_t uid);

/* A thread was interrupted at `pc`, and its stack is to be unwound later, when the process may be
 * gone: where that is in no module, what says names of generated code is opened now. */
void addresses_meet(struct addresses *map, uint64_t pc);

/* From now on the function of Python whose code object is `code` (WIRE_PYTHON and its address), or
 * the label (WIRE_LABEL and its number), goes by this name, of so many bytes. */
void addresses_tell(struct addresses *map, uint64_t code, const char *name, size_t length);

/* It has generated code whose names hcctd may not read (jit_debug.h). */
bool addresses_is_refused(const struct addresses *map);

/* Notices generated code that has come or moved; to be called often, as it costs next to nothing.
 */
void addresses_refresh(struct addresses *map);

/* What was remembered of single addresses may be wrong, or frames that they had may be given back:
 * they are translated anew. */
void addresses_forget(struct addresses *map);

/* The frame of a place in the module that was added as the n-th, from 1 on, of whatever generation.
 * Never fails: an address that is not in that one is in none. */
uint32_t addresses_place(struct addresses *map, uint32_t n, uint64_t pc);

/* How many ranges there are in this generation, and a copy of the newest n of them, oldest first.
 */
uint32_t addresses_count(const struct addresses *map);
void addresses_ranges(const struct addresses *map, struct code_range *into, uint32_t n);

/* Calls `visit` for the module of each range, of any generation. */
void addresses_each_module(const struct addresses *map, void (*visit)(uint32_t module));

#define THREAD_NAME_ROOM 17 /* for a name as struct wire_slot has it, terminated */

/* The frame that stands for a thread of that name, at the root of its contexts. Never fails. */
uint32_t addresses_thread(struct addresses *map, const char *name);

/* Private: what was translated before. Direct-mapped: a collision costs a search, nothing else. */
#define ADDRESSES_CACHE_BITS 13

struct addresses_cached {
    uint64_t routine, site;
    uint32_t frame; /* 0: empty */
};

struct addresses_cache {
    struct addresses_cached entry[1u << ADDRESSES_CACHE_BITS];
};

/* Private: fills the entry. */
uint32_t addresses_translate(struct addresses *map, struct addresses_cached *entry,
                             uint64_t routine, uint64_t site);

/* The frame (code/frame.h) of a PUSH or CALL event; with routine WIRE_LEAF_PC `site` is the pc
 * itself, and the frame a place. Never fails. */
static inline uint32_t addresses_frame(struct addresses *map, uint64_t routine, uint64_t site) {
    struct addresses_cache *cache = (struct addresses_cache *)(void *)map; /* begins with it */
    uint64_t hash = (routine * 0x9e3779b97f4a7c15ull ^ site) * 0xff51afd7ed558ccdull;
    struct addresses_cached *entry = &cache->entry[hash >> (64 - ADDRESSES_CACHE_BITS)];
    if (hcct_likely(entry->frame != 0 && entry->routine == routine && entry->site == site))
        return entry->frame;
    return addresses_translate(map, entry, routine, site);
}

#endif
