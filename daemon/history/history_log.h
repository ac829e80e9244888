/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_log.h - a file of hours, one block after the other: what the hour has added to the words
 * (history_words.h), and its column (history_column.h). A day that is over has a block, too, whose
 * column is the sum of its hours.
 *
 * A block is whole, or it is the end of the file and nobody sees it. Columns can be taken out,
 * words can't: later hours refer to them. Descriptors are the caller's; who reads needs no lock.
 */
#ifndef HCCT_HISTORY_LOG_H
#define HCCT_HISTORY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum history_kind {
    HISTORY_HOUR = 1,
    HISTORY_DAY = 2,
    HISTORY_WORDS = 3, /* of an hour that was forgotten */
};

struct history_block {
    uint64_t begin_s, end_s; /* since 1970; of a day: from the beginning of its first hour on, and
                              * to the end of its last one */
    uint64_t weight;
    uint32_t kind;
    uint64_t at; /* where its words are in the file, and its column behind them */
    uint64_t words_bytes, column_bytes;
};

/* The block at *at, which goes to the next one. False: there is none that is whole. */
bool history_log_next(int fd, uint64_t *at, struct history_block *block);

/* Its words or its column, *bytes of them, by memory.h; free() gives it back. NULL: they can't be
 * read. */
uint8_t *history_log_words(int fd, const struct history_block *block, size_t *bytes);
uint8_t *history_log_column(int fd, const struct history_block *block, size_t *bytes);

/* Adds a block behind the others; `fd` was opened to read and write. False: it could not be
 * written, errno says why, and the file has what it had. */
bool history_log_append(int fd, const struct history_block *block, const void *words,
                        size_t words_bytes, const void *column, size_t column_bytes);

/* Writes to `to` what is in `from`, without the columns of hours that begin before `begin_s` and
 * of days that have such an hour. False: errno says why. */
bool history_log_copy(int to, int from, uint64_t begin_s);

#endif
