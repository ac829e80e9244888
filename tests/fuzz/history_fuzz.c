/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_fuzz.c - any bytes as a log of past hours: what is damaged is refused, and what is read
 * of the rest is a profile that can be printed, written as an hour again and, as an order has it,
 * added to what is in memory.
 *
 * Few changes get past the checksums of a log. So most inputs are blocks of one, each as what it
 * has added to the words and its column, which are packed here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/history/history_add.h"
#include "daemon/history/history_write.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/whole.h"
#include "tests/report/sample.h"

#define HOUR_S     3600u
#define BLOCKS_MAX 8u
#define RAW        'c' /* the first byte of a log as it is */

static int log_fd = -1;

static void put_blocks(struct fuzz_input *input) {
    static uint8_t words[FUZZ_INPUT_MAX], column[FUZZ_INPUT_MAX];
    for (unsigned i = 0; i < BLOCKS_MAX && input->size > 0; i++) {
        struct history_block block = {
            .begin_s = i * HOUR_S, .end_s = (i + 1) * HOUR_S, .weight = 1, .kind = HISTORY_HOUR};
        if (fuzz_take_byte(input) % 8 == 0) {
            block.begin_s = 0;
            block.kind = HISTORY_DAY;
        }
        size_t words_bytes = fuzz_take_bytes(input, words),
               column_bytes = fuzz_take_bytes(input, column);
        fuzz_must(history_log_append(log_fd, &block, words, words_bytes, column, column_bytes));
    }
}

static void put_log(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    if (size > 0 && data[0] == RAW)
        fuzz_must(pwrite(log_fd, data, size, 0) == (ssize_t)size);
    else
        put_blocks(&input);
}

static uint64_t weight_of(const struct profile *profile) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        sum += profile->nodes[i].count;
    return sum;
}

/* The last hour of the log is what has just been written: it can be read, with the same weight. */
static void check_last(uint64_t weight) {
    const struct history_choice all = {NULL, NULL};
    struct history_part part;
    bool wanted[FUZZ_INPUT_MAX / 64 + 2] = {false};
    size_t n;
    struct history_block *blocks = history_blocks(log_fd, &n);
    fuzz_must(n > 0 && n <= sizeof wanted);
    wanted[n - 1] = true;
    fuzz_must(history_read_hours(log_fd, blocks, n, wanted, &all, false, &part));
    fuzz_must(weight_of(part.profile) == weight);
    profile_free(part.profile);
    free(part.trees);
    free(blocks);
}

/* All of it, hour by hour or day by day; then as an hour more of the same log. */
static void read_log(bool days) {
    const struct history_choice all = {NULL, NULL};
    struct history_part part;
    bool wanted[FUZZ_INPUT_MAX / 64 + 2]; /* two may be ours */
    size_t n;
    struct history_block *blocks = history_blocks(log_fd, &n);
    fuzz_must(n <= sizeof wanted);
    memset(wanted, true, sizeof wanted);
    if (history_read_hours(log_fd, blocks, n, wanted, &all, days, &part)) {
        const struct history_block more = {.begin_s = 90 * HOUR_S, .end_s = 91 * HOUR_S};
        must_be_whole(part.profile);
        must_be_written(part.profile, "text");
        must_be_written(part.profile, "pprof");
        if (history_write_hour(log_fd, &more, part.profile))
            check_last(weight_of(part.profile));
        profile_free(part.profile);
        free(part.trees);
    }
    free(blocks);
}

/* The same as a renderer gets it: an order and the log, to be added to what is in memory. */
static void order_log(struct profile *live, bool errors) {
    struct history_order order = {.days = true, .choice = {.tag = NULL}};
    char *text, error[256] = "";
    size_t n, bytes;
    struct history_block *blocks = history_blocks(log_fd, &n);
    order.hours = calloc(n + 1, sizeof *order.hours);
    fuzz_must(order.hours != NULL);
    for (size_t i = 0; i < n; i++)
        if (blocks[i].kind == HISTORY_HOUR)
            order.hours[order.n++].hour = (struct history_hour){blocks[i].begin_s, blocks[i].end_s};
    FILE *out = open_memstream(&text, &bytes);
    fuzz_must(out != NULL);
    history_order_write(&order, out);
    fuzz_must(fclose(out) == 0);
    struct profile *sum = history_order_add((const uint8_t *)text, bytes, &log_fd, 1, live, errors,
                                            error, sizeof error);
    fuzz_must((sum == NULL) == (error[0] != '\0'));
    if (sum != NULL) {
        must_be_whole(sum);
        must_be_written(sum, "text");
        profile_free(sum);
    }
    free(text);
    free(order.hours);
    free(blocks);
}

static void open_log(void) {
    if (log_fd < 0)
        log_fd = memfd_create("log", MFD_CLOEXEC);
    fuzz_must(log_fd >= 0 && ftruncate(log_fd, 0) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    open_log();
    put_log(data, size);
    read_log(true);
    read_log(false);
    order_log(sample_none(), true);
    order_log(sample_random(size), size % 2 == 0);
    history_write_days(log_fd, 50 * HOUR_S);
    return 0;
}

/* ---- logs as hcctd writes them ---- */

static void write_hours(unsigned hours, uint64_t *random) {
    for (unsigned i = 0; i < hours; i++) {
        struct profile *profile = sample_random(fuzz_random(random) % 1000);
        const struct history_block block = {
            .begin_s = i * HOUR_S, .end_s = (i + 1) * HOUR_S, .weight = weight_of(profile)};
        fuzz_must(history_write_hour(log_fd, &block, profile));
        profile_free(profile);
    }
    history_write_days(log_fd, 50 * HOUR_S);
}

static size_t put_bytes(uint8_t *into, const uint8_t *bytes, size_t n) {
    into[0] = (uint8_t)n;
    into[1] = (uint8_t)(n >> 8);
    memcpy(into + 2, bytes, n);
    return n + 2;
}

/* One block as put_blocks() takes it; 0: it has not the room. */
static size_t pack_block(const struct history_block *block, uint8_t *into, size_t room) {
    size_t words_bytes, column_bytes, n = 0;
    uint8_t *words = history_log_words(log_fd, block, &words_bytes),
            *column = history_log_column(log_fd, block, &column_bytes);
    fuzz_must(words != NULL && column != NULL);
    if (words_bytes + column_bytes + 5 <= room) {
        into[n++] = block->kind == HISTORY_DAY ? 0 : 1;
        n += put_bytes(into + n, words, words_bytes);
        n += put_bytes(into + n, column, column_bytes);
    }
    free(words);
    free(column);
    return n;
}

/* What cannot be read would say nothing: so the test notices when the format is another one. */
static void must_be_read(const uint8_t *data, size_t size) {
    const struct history_choice all = {NULL, NULL};
    struct history_words words;
    size_t n;
    open_log();
    put_log(data, size);
    struct history_block *blocks = history_blocks(log_fd, &n);
    history_words_init(&words);
    fuzz_must(history_read_words(log_fd, blocks, n, &words));
    struct history_sum *sum = history_sum_new(&words, &all);
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        uint8_t *column = history_log_column(log_fd, &blocks[i], &bytes);
        fuzz_must(column != NULL && history_sum_add(sum, column, bytes));
        free(column);
    }
    history_sum_free(sum);
    history_words_free(&words);
    free(blocks);
}

/* Some hours, and their day; then a few wrong bytes, or none. */
static size_t make_up(uint64_t *random, uint8_t *into) {
    size_t blocks, size = 0, more = 1;
    open_log();
    write_hours(1 + fuzz_random(random) % 3, random);
    struct history_block *block = history_blocks(log_fd, &blocks);
    for (size_t i = 0; i < blocks && more > 0; i++)
        size += more = pack_block(&block[i], into + size, FUZZ_INPUT_MAX - size);
    free(block);
    must_be_read(into, size);
    for (unsigned wrong = fuzz_random(random) % 4; wrong > 0; wrong--)
        into[fuzz_random(random) % size] ^= (uint8_t)(1u << fuzz_random(random) % 8);
    return size;
}

const struct fuzz_target fuzz_target = {
    .name = "history", .mutations = 1000, .made_up = 300, .make_up = make_up};
