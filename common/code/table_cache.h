/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_cache.h - tables of modules on disk, by build-id, for all daemons of one user.
 *
 * A file is there in whole or not at all: it is written under another name and renamed. What is
 * read back must be a file of ours that nobody else may write, with the checksum that it was
 * written with, and pass the check that tables from the worker pass; all else is a miss. The files
 * take a limited size together: the least recently used ones go first.
 *
 * A cache has one owner; any number of daemons may use one directory.
 */
#ifndef HCCT_TABLE_CACHE_H
#define HCCT_TABLE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/code/module.h"
#include "common/code/table_kind.h"

#define TABLE_CACHE_BYTES (256ull << 20)
/* Shorter build-ids, which a linker may use, say too little. */
#define TABLE_CACHE_BUILD_ID_MIN 8u

struct table_cache;

/* A cache in `directory`, which is made when the first table is kept; NULL: $XDG_CACHE_HOME/hcct,
 * else $HOME/.cache/hcct, else, for root, /var/cache/hcct. The first failure to write says so on
 * stderr. NULL is given when `directory` is "none", or when no place or no memory is known: that is
 * a cache as well, which is always empty. `limit`: bytes of all files together. */
struct table_cache *table_cache_new(const char *directory, uint64_t limit);
void table_cache_free(struct table_cache *cache);

/* The table of that kind of the module with that build-id, malloc'ed, of *bytes bytes; NULL: not
 * there. */
void *table_cache_get(struct table_cache *cache, const struct module_info *module,
                      enum table_kind kind, size_t *bytes);

/* Keeps a table, when the module has a build-id. */
void table_cache_put(struct table_cache *cache, const struct module_info *module,
                     enum table_kind kind, const void *table, size_t bytes);

#endif
