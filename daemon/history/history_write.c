/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_write.c - what is not known yet, and numbers.
 */
#include "daemon/history/history_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "daemon/history/history_column.h"
#include "daemon/history/history_read.h"

#define DAY_S 86400u

static bool append(int fd, const struct history_block *block, struct history_words *words,
                   const struct profile *profile, const uint32_t *trees) {
    struct history_known known;
    size_t column_bytes, words_bytes;
    if (!history_known_init(&known, words)) {
        history_known_free(&known);
        return false;
    }
    FILE *out = memory_stream("an hour");
    history_column_write(&known, profile, trees, out);
    char *column = memory_stream_end(out, &column_bytes, "an hour");
    out = memory_stream("an hour");
    history_known_write(&known, out);
    char *added = memory_stream_end(out, &words_bytes, "an hour");
    bool done = history_log_append(fd, block, added, words_bytes, column, column_bytes);
    int error = errno;
    free(column);
    free(added);
    history_known_free(&known);
    errno = error;
    return done;
}

static bool append_known(int fd, const struct history_block *block, const struct profile *profile,
                         const uint32_t *trees) {
    struct history_words words;
    size_t n;
    struct history_block *blocks = history_blocks(fd, &n);
    history_words_init(&words);
    errno = EIO; /* unless something else goes wrong */
    bool done =
        history_read_words(fd, blocks, n, &words) && append(fd, block, &words, profile, trees);
    int error = errno;
    history_words_free(&words);
    free(blocks);
    errno = error;
    return done;
}

bool history_write_hour(int fd, const struct history_block *hour, const struct profile *profile) {
    struct history_block block = *hour;
    block.kind = HISTORY_HOUR;
    return append_known(fd, &block, profile, NULL);
}

/* ---- days ---- */

static bool same_head(const struct profile *a, const struct profile *b) {
    return strcmp(a->type, b->type) == 0 && strcmp(a->unit, b->unit) == 0 &&
           strcmp(a->summary, b->summary) == 0 && strcmp(a->title, b->title) == 0 &&
           strcmp(a->others, b->others) == 0 && memcmp(&a->phi, &b->phi, sizeof a->phi) == 0 &&
           memcmp(&a->epsilon, &b->epsilon, sizeof a->epsilon) == 0 && a->period == b->period;
}

/* A sum has one head, which must be that of any of its hours: not all may have the processes that
 * are asked for. */
static bool have_one_head(int fd, const struct history_block *blocks, size_t n, const bool *wanted,
                          struct history_words *words) {
    struct history_column column;
    struct profile first = {.type = NULL};
    bool same = true;
    for (size_t i = 0; i < n && same; i++) {
        size_t bytes;
        uint8_t *data = wanted[i] ? history_log_column(fd, &blocks[i], &bytes) : NULL;
        if (data == NULL)
            continue;
        history_column_begin(&column, words, data, bytes);
        if (first.type == NULL)
            first = column.head;
        same = !column.in.bad && same_head(&first, &column.head);
        free(data);
    }
    return same;
}

static bool can_be_one(int fd, const struct history_block *blocks, size_t n, const bool *wanted) {
    struct history_words words;
    history_words_init(&words);
    bool can =
        history_read_words(fd, blocks, n, &words) && have_one_head(fd, blocks, n, wanted, &words);
    history_words_free(&words);
    return can;
}

/* Hours of that day, from the first to the end of the last; its weight is 0 where there is a block
 * for it already, or one hour alone. */
static struct history_block find_day(const struct history_block *blocks, size_t n, uint64_t day,
                                     bool *wanted) {
    struct history_block sum = {.begin_s = UINT64_MAX, .kind = HISTORY_DAY};
    unsigned hours = 0;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = blocks[i].kind == HISTORY_HOUR && blocks[i].begin_s / DAY_S == day;
        if (blocks[i].kind == HISTORY_DAY && blocks[i].begin_s / DAY_S == day)
            return (struct history_block){.weight = 0};
        if (!wanted[i])
            continue;
        hours++;
        sum.weight += blocks[i].weight;
        sum.begin_s = blocks[i].begin_s < sum.begin_s ? blocks[i].begin_s : sum.begin_s;
        sum.end_s = blocks[i].end_s > sum.end_s ? blocks[i].end_s : sum.end_s;
    }
    sum.weight = hours > 1 ? sum.weight : 0;
    return sum;
}

/* One that can't be a sum has a block without weight, so that it is not tried again. */
static void write_day(int fd, const struct history_block *blocks, size_t n, const bool *wanted,
                      struct history_block *day) {
    const struct history_choice all = {NULL, NULL};
    struct history_part part;
    if (!history_read_hours(fd, blocks, n, wanted, &all, false, &part))
        return;
    if (!can_be_one(fd, blocks, n, wanted))
        day->weight = 0;
    append_known(fd, day, part.profile, part.trees);
    profile_free(part.profile);
    free(part.trees);
}

void history_write_days(int fd, uint64_t begin_s) {
    size_t n;
    struct history_block *blocks = history_blocks(fd, &n);
    bool *wanted = memory_new(n + 1, sizeof *wanted, "hours");
    for (size_t i = 0; i < n; i++) {
        uint64_t day = blocks[i].begin_s / DAY_S;
        bool first = blocks[i].kind == HISTORY_HOUR && day < begin_s / DAY_S;
        for (size_t k = 0; k < i && first; k++)
            first = blocks[k].kind != HISTORY_HOUR || blocks[k].begin_s / DAY_S != day;
        struct history_block sum =
            first ? find_day(blocks, n, day, wanted) : (struct history_block){.weight = 0};
        if (sum.weight > 0)
            write_day(fd, blocks, n, wanted, &sum);
    }
    free(wanted);
    free(blocks);
}
