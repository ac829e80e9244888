/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_entries.c - entries of routines in order of module, name and address.
 */
#include "common/profile/eval_entries.h"

#include <stdlib.h>

#include "common/base/memory.h"

static int compare_number(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_names(const struct eval_entry *a, const struct eval_entry *b) {
    int order = compare_number((uintptr_t)a->module, (uintptr_t)b->module);
    return order != 0 ? order : compare_number((uintptr_t)a->name, (uintptr_t)b->name);
}

static int compare(const void *a, const void *b) {
    const struct eval_entry *x = a, *y = b;
    int order = compare_names(x, y);
    return order != 0 ? order : compare_number(x->address, y->address);
}

void eval_entries_add(struct eval_entries *entries, const struct eval_entry *entry) {
    entries->entry = memory_grow(entries->entry, entries->n, &entries->room, sizeof *entries->entry,
                                 "functions");
    entries->entry[entries->n++] = *entry;
}

void eval_entries_sort(struct eval_entries *entries) {
    if (entries->n > 0)
        qsort(entries->entry, entries->n, sizeof *entries->entry, compare);
}

uint64_t eval_entries_find(const struct eval_entries *entries, const struct eval_entry *site) {
    uint32_t low = 0, high = entries->n; /* low: how many are at or before the site */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&entries->entry[middle], site) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && compare_names(&entries->entry[low - 1], site) == 0)
        return entries->entry[low - 1].address;
    if (low < entries->n && compare_names(&entries->entry[low], site) == 0)
        return entries->entry[low].address;
    return 0;
}

void eval_entries_free(struct eval_entries *entries) {
    free(entries->entry);
    *entries = (struct eval_entries){0};
}
