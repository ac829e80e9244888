/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_add.h - hours added to what hcctd has in memory.
 *
 * All get memory by memory.h.
 */
#ifndef HCCT_HISTORY_ADD_H
#define HCCT_HISTORY_ADD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/profile/profile.h"
#include "daemon/history/history_read.h"
#include "daemon/history/process_choice.h"

/* Which time the hours are of. */
struct history_time {
    uint64_t begin_s, span_s;
};

/* The sum of the profile and n parts of hours; what the profile is called it is called, too. Takes
 * the profile and all of the parts over. `errors`: those of its contexts matter, and not only those
 * of groups of them. NULL: they can't be added up, and `error` has the sentence that says why. */
struct profile *history_add(struct profile *profile, struct history_part *parts, size_t n,
                            const struct history_time *time, bool errors, char *error,
                            size_t error_bytes);

/* The same as an order for another process, which has the logs. */
struct history_order {
    struct history_time time;
    struct process_choice choice;
    bool days;                     /* history_read_hours() */
    struct history_ordered *hours; /* in order of their beginnings */
    size_t n;
};

struct history_ordered {
    struct history_hour hour;
    uint32_t file; /* of its log, among those that the other process gets */
};

void history_order_write(const struct history_order *order, FILE *out);

/* Adds what the order says to the profile, as history_add() does; files[i] are open to be read.
 * NULL: that can't be done. */
struct profile *history_order_add(const uint8_t *order, size_t bytes, const int *files,
                                  unsigned n_files, struct profile *profile, bool errors,
                                  char *error, size_t error_bytes);

#endif
