/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_column.h - what the processes of an hour weigh, by context (history_words.h), as numbers.
 *
 * A day's column has the same of its hours together: errors are sums, and each context says how
 * many trees count it (merge.h). Gets memory by memory.h.
 */
#ifndef HCCT_HISTORY_COLUMN_H
#define HCCT_HISTORY_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/profile/process_fields.h"
#include "common/profile/profile.h"
#include "daemon/history/history_pack.h"
#include "daemon/history/history_words.h"

struct history_entry {
    uint32_t context;
    uint32_t trees; /* how many count it */
    uint64_t count, error;
};

struct history_process {
    struct profile_process fields;
    uint32_t trees; /* how many there are */
    uint32_t n;     /* of its entries, which follow */
};

/* Writes a profile, and makes known what is not. `trees`: by node; NULL: it is of one hour. */
void history_column_write(struct history_known *known, const struct profile *profile,
                          const uint32_t *trees, FILE *out);

#define HISTORY_FIELDS_MAX 512u

/* A column that is read, process by process. */
struct history_column {
    struct history_words *words;
    struct unpack in;    /* in.bad: it is damaged */
    struct profile head; /* what it says of itself; no tables */
    uint32_t n_processes;
    const struct process_field *fields[HISTORY_FIELDS_MAX];
    uint32_t n_fields;
};

/* Strings are those of `words`, which get the ranges of modules, and the greatest of design
 * effects.
 */
void history_column_begin(struct history_column *column, struct history_words *words,
                          const uint8_t *data, size_t bytes);

/* The next process; *entries: where its entries are. */
void history_column_process(struct history_column *column, struct history_process *process,
                            struct unpack *entries);

/* Reads entries one by one, contexts in order. */
struct history_entries {
    struct unpack contexts, counts, errors, trees;
    uint64_t unit, limit;
    uint32_t context;
};

void history_entries_begin(struct history_entries *it, const struct history_words *words,
                           const struct unpack *entries);
/* False: there are no more of them, or they are damaged. */
static inline bool history_entries_next(struct history_entries *it, struct history_entry *entry) {
    if (it->contexts.at == it->contexts.end)
        return false;
    uint64_t context = it->context + unpack_number(&it->contexts);
    uint64_t count = unpack_number(&it->counts);
    if (context >= it->limit || it->contexts.bad)
        return false;
    entry->context = it->context = (uint32_t)context;
    entry->count = (count >> 1) * it->unit;
    entry->error = (count & 1) != 0 ? unpack_number(&it->errors) * it->unit : 0;
    entry->trees = it->trees.at < it->trees.end ? (uint32_t)unpack_number(&it->trees) : 1;
    return true;
}

#endif
