/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_object_fuzz.c - any bytes as an object that a program has registered for its debugger: what
 * is read is within it, what is kept within the limits of a map, and none of its names could steer
 * a terminal.
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/code/jit_object.h"
#include "tests/fuzz/fuzz.h"
#include "tests/targets/made_object.h"

/* An object as there are some, whose bytes the input changes. */
static size_t make(struct fuzz_input *input, uint8_t *bytes, size_t room) {
    static const struct made_function functions[] = {{"one", 0, 64}, {"two", 64, 32}};
    struct made_object object;
    make_object(&object, 0x1000, 0x100, functions, 2);
    size_t n = sizeof object < room ? sizeof object : room;
    memcpy(bytes, &object, n);
    while (input->size > 0) {
        uint16_t at = (uint16_t)(fuzz_take_word(input) % n);
        bytes[at] = fuzz_take_byte(input);
    }
    return n;
}

static void check_names(const struct perf_map *map) {
    for (uint64_t at = 0; at < 0x2000; at += 16) {
        const char *name = perf_map_find(map, at);
        for (size_t i = 0; name != NULL && name[i] != '\0'; i++)
            fuzz_must((unsigned char)name[i] >= ' ' && name[i] != 0x7f && i < PERF_MAP_NAME_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    uint8_t bytes[FUZZ_INPUT_MAX];
    struct fuzz_input input = {data, size};
    struct perf_map_stats stats, again;
    uint64_t print = 0, budget = JIT_OBJECT_BYTES_MAX;
    size_t n = size < sizeof bytes ? size : sizeof bytes;
    bool made = fuzz_take_byte(&input) != ELFMAG0;
    if (fd < 0)
        fd = memfd_create("object", MFD_CLOEXEC);
    memcpy(bytes, data, n);
    if (made)
        n = make(&input, bytes, sizeof bytes);
    fuzz_must(fd >= 0 && ftruncate(fd, (off_t)n) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
    const struct jit_bytes object = {.fd = fd, .size = n};
    struct perf_map *map = perf_map_new();
    bool changed = jit_object_functions(&object, map, &print, &budget);
    fuzz_must(!changed || print != 0);
    perf_map_get_stats(map, &stats);
    check_names(map);
    fuzz_must(!jit_object_functions(&object, map, &print, &budget)); /* as it was */
    perf_map_get_stats(map, &again);
    fuzz_must(stats.added == again.added);
    jit_object_variable(&object, "one", 64, &budget);
    perf_map_free(map);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "jit_object", .mutations = 20000};
