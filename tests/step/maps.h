/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * maps.h - the target's mappings, as the kernel lists them.
 */
#ifndef HCCT_STEP_MAPS_H
#define HCCT_STEP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct map {
    uint64_t start, end;
    bool can_write, can_execute;
    char path[256]; /* "" for anonymous memory; kernel names are in brackets */
};

struct maps {
    struct map *map; /* by address */
    size_t n, room;
};

/* Reads the list anew. False, and an empty list, when it can't be read. */
bool maps_read(struct maps *maps, pid_t pid);

/* The mapping of an address, or NULL. Good until the next maps_read. */
const struct map *maps_find(const struct maps *maps, uint64_t address);

void maps_clear(struct maps *maps);

#endif
