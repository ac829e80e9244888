/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_read.h - hours of one log (history_log.h), chosen among its blocks, as one profile.
 */
#ifndef HCCT_HISTORY_READ_H
#define HCCT_HISTORY_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/history/history_log.h"
#include "daemon/history/history_sum.h"

/* All blocks, by memory.h, the caller's; NULL: none. */
struct history_block *history_blocks(int fd, size_t *n);

/* A sum that is a part for merge_parts(); both are the caller's. */
struct history_part {
    struct profile *profile;
    uint32_t *trees;
};

/* The hours that `wanted` says, by block. `days`: a day all of whose hours are wanted may be read
 * from its own block, where processes that are alike are one. False: nothing of it has weight, or
 * can be read. Gets memory by memory.h. */
bool history_read_hours(int fd, const struct history_block *blocks, size_t n, const bool *wanted,
                        const struct history_choice *choice, bool days, struct history_part *part);

/* An hour of a log. */
struct history_hour {
    uint64_t begin_s, end_s; /* since 1970 */
};

/* The same of hours that may be among the blocks of a log. */
bool history_read_log(int fd, const struct history_hour *hours, size_t n,
                      const struct history_choice *choice, bool days, struct history_part *part);

/* The words of the first n blocks. False: they can't be read. */
bool history_read_words(int fd, const struct history_block *blocks, size_t n,
                        struct history_words *words);

#endif
