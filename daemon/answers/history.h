/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history.h - profiles of past hours, as files in a directory of ours: what windows (windows.h) no
 * longer have.
 *
 * An hour's profile of what a user's programs did, by what was counted, is a file in the format of
 * pprof, with its names. What it is of, and what it weighs, is its name, so that a time line is a
 * list of a directory, and nothing of it stays in memory. The oldest go when all of them are larger
 * than they may be. Any thread; a file appears whole, or not at all.
 */
#ifndef HCCT_HISTORY_H
#define HCCT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/profile/profile.h"

struct history_cell {
    uint64_t begin_s, end_s; /* since 1970 */
    uint64_t weight;
    uid_t uid;
    uint32_t collector; /* enum wire_collector */
    uint32_t clock;     /* enum wire_clock: CPU time and elapsed time are not added up */
};

/* Keeps them in DIR/history, of `limit` bytes at most. False: the directory can't be used, errno
 * says why. Once, before threads. */
bool history_open(const char *directory, uint64_t limit);
bool history_is_open(void);

/* A file for the cell's profile, to be written by the caller, and then kept or given up by
 * history_commit(). NULL: errno says why. One at a time. */
FILE *history_begin(const struct history_cell *cell);
/* False: it could not be written, errno says why. Forgets what is too old. */
bool history_commit(FILE *file, bool keep);

/* The cells that overlap the span, in order of their beginnings, *n of them, malloc'ed. NULL: none,
 * or no memory. `sees`: whether a user's cells are to be listed. */
struct history_cell *history_list(uint64_t from_s, uint64_t to_s,
                                  bool (*sees)(const void *arg, uid_t uid), const void *arg,
                                  size_t *n);

/* The cell's profile. NULL: it is gone, or no profile. Gets memory by memory.h. */
struct profile *history_read(const struct history_cell *cell);

#endif
