/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arena.h - memory full of tables of modules, written by the daemon, mapped read-only by the
 * agents.
 *
 * One arena serves many sessions, so that a table is compiled and stored once however many
 * processes use its module. An arena only grows; when it is nearly full, new sessions get a new
 * one, and the old one goes with its last session. Thread-safe.
 */
#ifndef HCCT_ARENA_H
#define HCCT_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/code/table_kind.h"

#define ARENA_BYTES      (256ull << 20)    /* of address space; memory is taken as tables come */
#define ARENA_USER_BYTES (2 * ARENA_BYTES) /* of all arenas of one user */

struct arena;

/* The arena for a new session of that user, with one reference; NULL: no memory. Others' tables are
 * in none of the user's, and nothing that one user's programs map takes room from others'. Its
 * header says when hcctd has ended, if robust_begin() was called before. */
struct arena *arena_get(uid_t uid);
struct arena *arena_ref(struct arena *arena);
void arena_put(struct arena *arena); /* NULL is allowed */

/* Descriptor to pass to an agent, sealed against everything but the daemon's own mapping. */
int arena_fd(const struct arena *arena);

/* Offset of the module's table of that kind, WIRE_TABLE_PENDING when it has not been stored here
 * yet, or WIRE_TABLE_NONE. */
uint64_t arena_lookup(struct arena *arena, uint32_t module, enum table_kind kind);
/* Stores a table (NULL: there is none) and returns what arena_lookup will say from now on:
 * WIRE_TABLE_NONE when there is no room. */
uint64_t arena_store(struct arena *arena, uint32_t module, enum table_kind kind, const void *table,
                     size_t bytes);
/* The table at such an offset, as long as there is a reference; NULL: WIRE_TABLE_* is no offset. */
const void *arena_table(const struct arena *arena, uint64_t offset);

#endif
