/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kinds.c - all kinds that there can be, and which of them somebody has.
 */
#include "client/top/kinds.h"

#include <stdio.h>
#include <string.h>

#include "common/wire/metric.h"

unsigned top_kinds_find(const struct top_kinds *kinds, const char *name) {
    unsigned i = 0;
    while (i < kinds->n && strcmp(kinds->name[i], name) != 0)
        i++;
    return i;
}

static bool has(const struct process_list *list, const char *kind) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].kind, kind) == 0)
            return true;
    return false;
}

void top_kinds_of(struct top_kinds *kinds, const struct process_list *list) {
    kinds->n = 0;
    for (unsigned collector = 0; collector < WIRE_COLLECTORS; collector++)
        for (unsigned clock = 0; clock < WIRE_CLOCKS; clock++) {
            const char *kind = metric_kind(collector, clock);
            if (kinds->n < TOP_KINDS_MAX && top_kinds_find(kinds, kind) == kinds->n &&
                has(list, kind))
                snprintf(kinds->name[kinds->n++], PROCESSES_KIND_ROOM, "%s", kind);
        }
}
