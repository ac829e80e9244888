/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mirror.c - the target's stacks at the same addresses in our own memory.
 */
#include "tests/step/mirror.h"

#include <sys/mman.h>
#include <sys/uio.h>

#define PAGE      4096u
#define BYTES_MAX (256u * 1024)

/* A range that reaches down from `end` as far as any stack is copied. */
static bool map_below(struct mirror *mirror, uint64_t end) {
    uint64_t start = end - BYTES_MAX;
    if (mirror->n == MIRRORS_MAX || end < BYTES_MAX)
        return false;
    void *at = mmap((void *)(uintptr_t)start, BYTES_MAX, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    if ((uintptr_t)at != start) { /* a kernel that doesn't know the flag takes it for a hint */
        munmap(at, BYTES_MAX);
        return false;
    }
    mirror->range[mirror->n++] = (struct mirror_range){start, end};
    return true;
}

static bool is_mapped(const struct mirror *mirror, uint64_t start, uint64_t end) {
    for (size_t i = 0; i < mirror->n; i++)
        if (start >= mirror->range[i].start && end <= mirror->range[i].end)
            return true;
    return false;
}

bool mirror_stack(struct mirror *mirror, pid_t pid, uint64_t sp, uint64_t end) {
    uint64_t start = sp / PAGE * PAGE;
    if (start >= end || end - start > BYTES_MAX ||
        (!is_mapped(mirror, start, end) && !map_below(mirror, end)))
        return false;
    struct iovec here = {(void *)(uintptr_t)start, end - start};
    return process_vm_readv(pid, &here, 1, &here, 1, 0) == (ssize_t)(end - start);
}

void mirror_clear(struct mirror *mirror) {
    for (size_t i = 0; i < mirror->n; i++)
        munmap((void *)(uintptr_t)mirror->range[i].start,
               mirror->range[i].end - mirror->range[i].start);
    mirror->n = 0;
}
