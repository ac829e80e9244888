/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history.h - profiles of past hours, as files in a directory of ours: what windows (windows.h) no
 * longer have.
 *
 * An hour's profile of what a user's programs did, by what was counted, is a block in a log of two
 * weeks (history_log.h), with all of its names. A time line is a list of blocks, and nothing of
 * them stays in memory. The oldest go when all logs are larger than they may be. Any thread may
 * read, one writes; an hour appears whole, or not at all.
 */
#ifndef HCCT_HISTORY_H
#define HCCT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/profile/profile.h"
#include "daemon/history/history_earlier.h"
#include "daemon/history/history_read.h"

struct history_cell {
    uint64_t begin_s, end_s; /* since 1970 */
    uint64_t weight;
    uid_t uid;
    uint32_t collector; /* enum wire_collector */
    uint32_t clock;     /* enum wire_clock: CPU time and elapsed time are not added up */
    uint64_t at, bytes; /* where it is in its log, and what it takes there; history_begin() does not
                         * look at them */
};

/* Keeps them in DIR/history, of `limit` bytes at most, and removes what an earlier version kept
 * there: *gone. False: the directory can't be used, errno says why, and *gone is as before. Once,
 * before threads. */
bool history_open(const char *directory, uint64_t limit, struct history_earlier *gone);
bool history_is_open(void);

/* A stream for the cell's profile, which the caller writes in the format of pprof, and which is
 * then kept or given up by history_commit(). NULL: errno says why. One at a time. */
FILE *history_begin(const struct history_cell *cell);
/* False: it could not be kept, errno says why. Forgets what is too old. */
bool history_commit(FILE *file, bool keep);

/* The cells that overlap the span, in order of their beginnings, *n of them, malloc'ed. NULL: none,
 * or no memory. `sees`: whether a user's cells are to be listed. */
struct history_cell *history_list(uint64_t from_s, uint64_t to_s,
                                  bool (*sees)(const void *arg, uid_t uid), const void *arg,
                                  size_t *n);

/* Have they one log? */
bool history_same_log(const struct history_cell *a, const struct history_cell *b);
/* The log that has the cell, to be read. -1: errno says why. */
int history_open_log(const struct history_cell *cell);

/* The profiles of these cells, in order of their beginnings, a part for each log that has weight;
 * *n of them, the list and all the caller's. `days`: history_read_hours(). What can't be read is
 * left out. Gets memory by memory.h. */
struct history_part *history_read(const struct history_cell *cells, size_t n_cells,
                                  const struct history_choice *choice, bool days, size_t *n);

#endif
