/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_read.c - which columns are read, then the words that they refer to, then the sum.
 */
#include "daemon/history/history_read.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

struct history_block *history_blocks(int fd, size_t *n) {
    struct history_block *blocks = NULL, block;
    uint32_t room = 0;
    *n = 0;
    for (uint64_t at = 0; history_log_next(fd, &at, &block);) {
        blocks = memory_grow(blocks, (uint32_t)*n, &room, sizeof *blocks, "hours");
        blocks[(*n)++] = block;
    }
    return blocks;
}

bool history_read_words(int fd, const struct history_block *blocks, size_t n,
                        struct history_words *words) {
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        uint8_t *data = history_log_words(fd, &blocks[i], &bytes);
        if (data == NULL)
            return false;
        uint8_t *kept = pool_alloc(&words->pool, bytes);
        memcpy(kept, data, bytes);
        free(data);
        if (!history_words_add(words, kept, bytes))
            return false;
    }
    return true;
}

static bool is_of_day(const struct history_block *day, const struct history_block *block) {
    return block->kind == HISTORY_HOUR && block->begin_s >= day->begin_s &&
           block->begin_s < day->end_s;
}

/* In place of hours that are all wanted: their day, which has those that stand before it. */
static void prefer_days(const struct history_block *blocks, size_t n, bool *read) {
    for (size_t d = 0; d < n; d++) {
        bool all = blocks[d].kind == HISTORY_DAY && blocks[d].weight > 0;
        for (size_t i = 0; i < d && all; i++)
            all = !is_of_day(&blocks[d], &blocks[i]) || read[i];
        for (size_t i = 0; i < d && all; i++)
            if (is_of_day(&blocks[d], &blocks[i]))
                read[i] = false;
        read[d] |= all;
    }
}

static bool add_column(int fd, const struct history_block *block, struct history_sum *sum) {
    size_t bytes;
    uint8_t *column = history_log_column(fd, block, &bytes);
    bool added = column == NULL || history_sum_add(sum, column, bytes);
    free(column);
    return added;
}

/* Next in time of those that are to be read; n: there is none. */
static size_t next_in_time(const struct history_block *blocks, size_t n, const bool *read) {
    size_t next = n;
    for (size_t i = 0; i < n; i++)
        if (read[i] && (next == n || blocks[i].begin_s < blocks[next].begin_s))
            next = i;
    return next;
}

static bool sum_up(int fd, const struct history_block *blocks, size_t n, bool *read,
                   struct history_words *words, const struct history_choice *choice,
                   struct history_part *part) {
    struct history_sum *sum = history_sum_new(words, choice);
    bool whole = true;
    for (size_t i; whole && (i = next_in_time(blocks, n, read)) < n; read[i] = false)
        whole = add_column(fd, &blocks[i], sum);
    part->profile = whole ? history_sum_profile(sum, &part->trees) : NULL;
    history_sum_free(sum);
    return part->profile != NULL;
}

bool history_read_hours(int fd, const struct history_block *blocks, size_t n, const bool *wanted,
                        const struct history_choice *choice, bool days, struct history_part *part) {
    struct history_words words;
    bool *read = memory_new(n, sizeof *read, "the past"), done = false;
    size_t upto = 0;
    for (size_t i = 0; i < n; i++)
        read[i] = wanted[i] && blocks[i].kind == HISTORY_HOUR;
    if (days)
        prefer_days(blocks, n, read);
    for (size_t i = 0; i < n; i++)
        upto = read[i] ? i + 1 : upto;
    if (upto > 0) {
        history_words_init(&words);
        done = history_read_words(fd, blocks, upto, &words) &&
               sum_up(fd, blocks, n, read, &words, choice, part);
        history_words_free(&words);
    }
    free(read);
    return done;
}

static bool is_among(const struct history_block *block, const struct history_hour *hours,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        if (block->begin_s == hours[i].begin_s && block->end_s == hours[i].end_s)
            return block->kind == HISTORY_HOUR;
    return false;
}

bool history_read_log(int fd, const struct history_hour *hours, size_t n_hours,
                      const struct history_choice *choice, bool days, struct history_part *part) {
    size_t n;
    struct history_block *blocks = history_blocks(fd, &n);
    bool *wanted = memory_new(n + 1, sizeof *wanted, "hours");
    for (size_t i = 0; i < n; i++)
        wanted[i] = is_among(&blocks[i], hours, n_hours);
    bool done = history_read_hours(fd, blocks, n, wanted, choice, days, part);
    free(wanted);
    free(blocks);
    return done;
}
