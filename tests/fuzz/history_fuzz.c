/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_fuzz.c - any bytes as a log of past hours: what is damaged is refused, and what is read
 * of the rest is a profile that can be printed and written as an hour again.
 *
 * Few changes get past the checksums of a log. So most inputs are blocks of one, each as what it
 * has added to the words and its column, which are packed here.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/render/format.h"
#include "daemon/answers/history_read.h"
#include "daemon/answers/history_write.h"
#include "tests/fuzz/fuzz.h"

#define HOUR_S     3600u
#define BLOCKS_MAX 8u
#define RAW        'c' /* the first byte of a log as it is */

static int log_fd = -1;

/* At most so many bytes of the input as the next two say. */
static size_t take_bytes(struct fuzz_input *input, uint8_t *into) {
    size_t bytes = fuzz_take_byte(input);
    bytes = (bytes | (size_t)fuzz_take_byte(input) << 8) % FUZZ_INPUT_MAX;
    bytes = bytes < input->size ? bytes : input->size;
    fuzz_take(input, into, bytes);
    return bytes;
}

static void put_blocks(struct fuzz_input *input) {
    static uint8_t words[FUZZ_INPUT_MAX], column[FUZZ_INPUT_MAX];
    for (unsigned i = 0; i < BLOCKS_MAX && input->size > 0; i++) {
        struct history_block block = {
            .begin_s = i * HOUR_S, .end_s = (i + 1) * HOUR_S, .weight = 1, .kind = HISTORY_HOUR};
        if (fuzz_take_byte(input) % 8 == 0) {
            block.begin_s = 0;
            block.kind = HISTORY_DAY;
        }
        size_t words_bytes = take_bytes(input, words), column_bytes = take_bytes(input, column);
        fuzz_must(history_log_append(log_fd, &block, words, words_bytes, column, column_bytes));
    }
}

static void put_log(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    fuzz_must(ftruncate(log_fd, 0) == 0);
    if (size > 0 && data[0] == RAW)
        fuzz_must(pwrite(log_fd, data, size, 0) == (ssize_t)size);
    else
        put_blocks(&input);
}

static void check_profile(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        fuzz_must(node->parent < i && node->location < profile->n_locations &&
                  node->process < profile->n_processes);
    }
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        fuzz_must(place->module < profile->n_modules);
        for (uint32_t k = 0; k < place->n_lines; k++)
            fuzz_must(place->lines[k].function < profile->n_functions);
    }
}

static void print(const struct profile *profile, const char *format) {
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "we");
    fuzz_must(nowhere != NULL);
    format_write(format_find(format), nowhere, profile, &format_default_options);
}

/* All of it, hour by hour or day by day; then as an hour more of the same log. */
static void read_log(bool days) {
    const struct history_choice all = {NULL, NULL};
    struct history_part part;
    bool wanted[FUZZ_INPUT_MAX / 64];
    size_t n;
    struct history_block *blocks = history_blocks(log_fd, &n);
    fuzz_must(n <= sizeof wanted);
    memset(wanted, true, sizeof wanted);
    if (history_read_hours(log_fd, blocks, n, wanted, &all, days, &part)) {
        const struct history_block more = {.begin_s = 90 * HOUR_S, .end_s = 91 * HOUR_S};
        check_profile(part.profile);
        print(part.profile, "text");
        print(part.profile, "pprof");
        history_write_hour(log_fd, &more, part.profile);
        profile_free(part.profile);
        free(part.trees);
    }
    free(blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (log_fd < 0)
        log_fd = memfd_create("log", MFD_CLOEXEC);
    fuzz_must(log_fd >= 0);
    put_log(data, size);
    read_log(true);
    read_log(false);
    history_write_days(log_fd, 50 * HOUR_S);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "history", .mutations = 3000};
