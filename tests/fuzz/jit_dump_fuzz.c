/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_dump_fuzz.c - any bytes as a jitdump that grows: it is read on and never back, what is kept
 * is within its limits, and none of its names could steer a terminal.
 */
#include <stdbool.h>

#include "common/code/jit_dump.h"
#include "tests/fuzz/fuzz.h"

#define STEPS_MAX 10000u

/* Bytes up to `shown` are in the file. */
static uint64_t read_to(struct perf_map *map, const uint8_t *bytes, uint64_t at, uint64_t shown,
                        size_t chunk, bool *broken) {
    for (unsigned i = 0; i < STEPS_MAX && !*broken; i++) {
        size_t n = shown - at < chunk ? (size_t)(shown - at) : chunk;
        const struct jit_dump_part part = {
            .at = at, .bytes = bytes + at, .n = n, .left = shown - at};
        uint64_t next = jit_dump_read(map, &part, broken);
        fuzz_must(next >= at && next <= shown);
        if (next == at)
            break;
        at = next;
    }
    return at;
}

static void check_names(const struct perf_map *map, const uint8_t *bytes, size_t n) {
    for (size_t at = 0; at + 8 <= n; at++) {
        uint64_t address;
        memcpy(&address, bytes + at, sizeof address);
        const char *name = perf_map_find(map, address);
        for (size_t i = 0; name != NULL && name[i] != '\0'; i++)
            fuzz_must((unsigned char)name[i] >= ' ' && name[i] != 0x7f && i < PERF_MAP_NAME_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t header[10] = {0x4a695444, 1, sizeof header};
    struct fuzz_input input = {data, size};
    struct perf_map_stats stats;
    bool broken = false;
    size_t first = 2 * fuzz_take_byte(&input), has_header = fuzz_take_byte(&input) % 8 != 0;
    size_t n = input.size + has_header * sizeof header;
    uint8_t *bytes = calloc(1, n + 1);
    memcpy(bytes, header, has_header * sizeof header);
    memcpy(bytes + has_header * sizeof header, input.data, input.size);
    struct perf_map *map = perf_map_new();
    uint64_t at = read_to(map, bytes, 0, first < n ? first : n, JIT_DUMP_BYTES, &broken);
    read_to(map, bytes, at, n, JIT_DUMP_BYTES, &broken);
    perf_map_get_stats(map, &stats);
    fuzz_must(stats.entries == stats.added - stats.replaced);
    check_names(map, bytes, n);
    perf_map_free(map);
    free(bytes);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "jit_dump", .mutations = 20000};
