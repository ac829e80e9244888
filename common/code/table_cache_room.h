/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_cache_room.h - making room in a directory of tables. For table_cache.c alone.
 */
#ifndef HCCT_TABLE_CACHE_ROOM_H
#define HCCT_TABLE_CACHE_ROOM_H

#include <stdint.h>

#define TABLE_CACHE_NAME      80 /* bytes, for any name of ours */
#define TABLE_CACHE_TEMPORARY ".new-"

/* Deletes the least recently used tables until `need` more bytes fit into `limit`, and what daemons
 * that have crashed were writing. Leaves other files alone. What can't be deleted stays. */
void table_cache_make_room(int directory, uint64_t limit, uint64_t need);

#endif
