/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_cache.h - what has been found out about addresses, for all queries to come.
 *
 * A module id never stands for anything but one build of a file, so nothing here ever becomes
 * wrong. What was not used for longest goes when there is too much.
 * Thread-safe.
 */
#ifndef HCCT_SYMBOL_CACHE_H
#define HCCT_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/elf_worker.h"

struct symbol_cache;

enum symbol_state {
    SYMBOL_ABSENT,
    SYMBOL_PENDING, /* somebody is finding it out */
    SYMBOL_KNOWN,
};

/* At most about max_bytes are kept. NULL: no memory. */
struct symbol_cache *symbol_cache_new(size_t max_bytes);
void symbol_cache_free(struct symbol_cache *cache); /* NULL is allowed */

/* SYMBOL_KNOWN: `symbol` is a copy, to be given to symbol_clear; else it is not touched. */
enum symbol_state symbol_cache_get(struct symbol_cache *cache, uint32_t module,
                                   const struct symbol_query *query, struct symbol *symbol);

/* From now on the address is pending. False: it was pending or known already, or no memory. */
bool symbol_cache_reserve(struct symbol_cache *cache, uint32_t module,
                          const struct symbol_query *query);

/* Makes the address known; the symbol stays the caller's. Without memory it becomes absent. */
void symbol_cache_put(struct symbol_cache *cache, uint32_t module, const struct symbol_query *query,
                      const struct symbol *symbol);

/* A bare name, for as long as a pending address is not known. The symbol stays the caller's. */
void symbol_cache_put_name(struct symbol_cache *cache, uint32_t module,
                           const struct symbol_query *query, const struct symbol *symbol);

/* True: the address is pending and has a bare name; `symbol` is a copy, to be given to
 * symbol_clear. */
bool symbol_cache_get_name(struct symbol_cache *cache, uint32_t module,
                           const struct symbol_query *query, struct symbol *symbol);

/* Makes the address absent. */
void symbol_cache_drop(struct symbol_cache *cache, uint32_t module,
                       const struct symbol_query *query);

/* Bytes in use, for the daemon's own figures. */
size_t symbol_cache_bytes(struct symbol_cache *cache);

#endif
