/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * maps.c - the target's mappings, as the kernel lists them.
 */
#include "tests/step/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct maps *maps, const struct map *map) {
    if (maps->n == maps->room) {
        size_t room = maps->room != 0 ? 2 * maps->room : 64;
        struct map *more = realloc(maps->map, room * sizeof *more);
        if (more == NULL)
            return false;
        maps->map = more;
        maps->room = room;
    }
    maps->map[maps->n++] = *map;
    return true;
}

bool maps_read(struct maps *maps, pid_t pid) {
    char name[64], line[512], rights[5];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(name, "r");
    maps->n = 0;
    if (file == NULL)
        return false;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file) != NULL) {
        struct map map = {0};
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %255[^\n]", &map.start, &map.end,
                   rights, map.path) < 3)
            continue;
        map.can_write = rights[1] == 'w';
        map.can_execute = rights[2] == 'x';
        ok = add(maps, &map);
    }
    fclose(file);
    return ok;
}

const struct map *maps_find(const struct maps *maps, uint64_t address) {
    size_t low = 0, high = maps->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps->map[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->n && maps->map[low].start <= address ? &maps->map[low] : NULL;
}

void maps_clear(struct maps *maps) {
    free(maps->map);
    *maps = (struct maps){0};
}
