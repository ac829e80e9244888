/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_debug_fuzz.c - any memory of a process in which a debugger would find lists of generated
 * code (GDB's JIT interface): a reading ends, whatever the lists lead to, and none of the names
 * could steer a terminal.
 *
 * The input is the memory from address 0 on: addresses are places in it. At the first two there are
 * the descriptors of two lists. What is read of it is no file's, as there are thousands of readings
 * for an input: pread() is answered here.
 */
#include "common/code/jit_debug.c"

#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"

#define READINGS 3u

static const uint8_t *input;
static size_t input_size;

/* The linker puts it in the place of pread(). */
ssize_t __wrap_pread(int fd, void *into, size_t n, off_t at);

ssize_t __wrap_pread(int fd, void *into, size_t n, off_t at) {
    fuzz_must(fd >= 0);
    if (at < 0) {
        errno = EINVAL;
        return -1;
    }
    size_t rest = (size_t)at < input_size ? input_size - (size_t)at : 0;
    size_t read = n < rest ? n : rest;
    memcpy(into, input + input_size - rest, read);
    return (ssize_t)read;
}

static void check_names(const struct perf_map *map) {
    for (uint64_t at = 0; at < 0x4000; at += 16) {
        const char *name = perf_map_find(map, at);
        for (size_t i = 0; name != NULL && name[i] != '\0'; i++)
            fuzz_must((unsigned char)name[i] >= ' ' && name[i] != 0x7f && i < PERF_MAP_NAME_MAX);
    }
}

/* Of this very process: whatever its number is, its memory is already open. */
static struct jit_debug *new_debug(void) {
    struct jit_debug *debug = jit_debug_new(getpid(), geteuid());
    fuzz_must(debug != NULL);
    debug->memory = memfd_create("memory", MFD_CLOEXEC);
    fuzz_must(debug->memory >= 0);
    add_list(debug, 0);
    add_list(debug, sizeof(struct descriptor));
    return debug;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input = data;
    input_size = size;
    struct perf_map *map = perf_map_new();
    struct jit_debug *debug = new_debug();
    for (unsigned i = 0; i < READINGS; i++) {
        debug->rest_ns = debug->due_ns = 0; /* at once */
        jit_debug_read(debug, map, i > 0);
        fuzz_must(!jit_debug_has_changed(debug));
        if (i == 1)
            jit_debug_forget(debug);
    }
    check_names(map);
    jit_debug_free(debug);
    perf_map_free(map);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "jit_debug", .mutations = 10000};
