/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval_entries.h - which routine a call site is in: its entry, out of those that profiles name.
 *
 * A profile says the entry only of routines that have weight of their own; of a call site it knows
 * the function's name. The same name in the same module leads from one to the other.
 */
#ifndef HCCT_EVAL_ENTRIES_H
#define HCCT_EVAL_ENTRIES_H

#include <stdint.h>

/* Strings are compared by their pointers: equal ones must be one. */
struct eval_entry {
    const char *module;
    const char *name; /* "" for code without symbols */
    uint64_t address;
};

struct eval_entries {
    struct eval_entry *entry;
    uint32_t n, room;
};

void eval_entries_add(struct eval_entries *entries, const struct eval_entry *entry);
/* Once, when all have been added. */
void eval_entries_sort(struct eval_entries *entries);
/* The entry of the routine of that module and name that has a call site at `site->address`: the
 * nearest before it, of those that have the name; else any that has it (a cold part stands before
 * its function); 0: none is known. */
uint64_t eval_entries_find(const struct eval_entries *entries, const struct eval_entry *site);
void eval_entries_free(struct eval_entries *entries);

#endif
