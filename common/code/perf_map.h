/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_map.h - the symbols of generated code, as programs with a just-in-time compiler list them in
 * /tmp/perf-PID.map: one line "START SIZE NAME" for each function, start and size in hex.
 *
 * This is the list alone, made from text; where the text comes from is the caller's business. The
 * text may be hostile: number, length and total size of names are capped. Code is thrown away and
 * its addresses are used again, so a function hides all earlier ones that it overlaps, for good.
 *
 * Not thread-safe: a map has one owner.
 */
#ifndef HCCT_PERF_MAP_H
#define HCCT_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_NAME_MAX   1024u       /* bytes; longer names are cut */
#define PERF_MAP_ENTRIES    131072u     /* functions of one map */
#define PERF_MAP_NAME_BYTES (16u << 20) /* all names of one map */

struct perf_map;

struct perf_map_stats {
    uint32_t entries;  /* functions that can be found now */
    uint64_t added;    /* ever */
    uint64_t replaced; /* functions that a later one hides */
    uint64_t broken;   /* lines, or calls, that say nothing */
    uint64_t dropped;  /* functions for which there was no room */
};

struct perf_map *perf_map_new(void);      /* NULL: no memory */
void perf_map_free(struct perf_map *map); /* NULL is allowed */

/* Takes in the next bytes of the text. A line counts when its end has come; the beginning of one is
 * kept until then. */
void perf_map_feed(struct perf_map *map, const char *text, size_t bytes);

/* Takes in one function, of code in [start, start + size), as a line of the text would; of its name
 * the first `length` bytes, or what is before a NUL. */
void perf_map_add(struct perf_map *map, uint64_t start, uint64_t size, const char *name,
                  size_t length);

/* The name of the function at an address, or NULL. Control characters in it have become '?'. Valid
 * until the next perf_map_feed or perf_map_add. */
const char *perf_map_find(const struct perf_map *map, uint64_t address);

void perf_map_get_stats(const struct perf_map *map, struct perf_map_stats *stats);

#endif
