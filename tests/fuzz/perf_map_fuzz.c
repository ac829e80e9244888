/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_map_fuzz.c - any text as a list of generated functions: fed in whole or in pieces it is the
 * same map, and none of its names could steer a terminal.
 */
#include <stdbool.h>

#include "common/code/perf_map.h"
#include "tests/fuzz/fuzz.h"

#define ADDRESSES 64u

static struct perf_map *feed(const char *text, size_t bytes, size_t piece) {
    struct perf_map *map = perf_map_new();
    fuzz_must(map != NULL);
    for (size_t at = 0; at < bytes; at += piece)
        perf_map_feed(map, text + at, bytes - at < piece ? bytes - at : piece);
    return map;
}

static void check_name(const char *name) {
    size_t n = strlen(name);
    fuzz_must(n > 0 && n <= PERF_MAP_NAME_MAX);
    for (size_t i = 0; i < n; i++)
        fuzz_must((unsigned char)name[i] >= ' ' && name[i] != 0x7f);
}

static void check_same(const struct perf_map *a, const struct perf_map *b, uint64_t address) {
    const char *in_a = perf_map_find(a, address), *in_b = perf_map_find(b, address);
    fuzz_must((in_a == NULL) == (in_b == NULL));
    if (in_a == NULL)
        return;
    check_name(in_a);
    fuzz_must(strcmp(in_a, in_b) == 0);
}

/* The addresses that stand in the text itself are the ones to ask for. */
static void check_addresses(const struct perf_map *a, const struct perf_map *b, const char *text) {
    for (unsigned i = 0; i < ADDRESSES && text != NULL; i++) {
        uint64_t address = strtoull(text, NULL, 16);
        check_same(a, b, address);
        check_same(a, b, address + 1);
        check_same(a, b, address - 1);
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    check_same(a, b, 0);
    check_same(a, b, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct perf_map_stats a_stats, b_stats;
    size_t piece = 1 + fuzz_take_byte(&input) % 61;
    size_t n = input.size;
    char *text = fuzz_take_text(&input);
    struct perf_map *whole = feed(text, n, n + 1), *pieces = feed(text, n, piece);
    perf_map_get_stats(whole, &a_stats);
    perf_map_get_stats(pieces, &b_stats);
    fuzz_must(a_stats.entries == a_stats.added - a_stats.replaced);
    fuzz_must(memcmp(&a_stats, &b_stats, sizeof a_stats) == 0);
    check_addresses(whole, pieces, text);
    perf_map_free(whole);
    perf_map_free(pieces);
    free(text);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "perf_map", .mutations = 20000};
