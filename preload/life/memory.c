/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.c - a mapping without any right is not filled when it is locked.
 */
#include "preload/life/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "common/wire/wire.h"
#include "preload/life/sys.h"

static _Atomic bool locks;

void memory_locked_from_now(void) {
    atomic_store(&locks, true);
}

void *memory_map(size_t bytes, int protection, int flags, int fd) {
    bool locked = atomic_load(&locks);
    long at = sys6(SYS_mmap, 0, bytes, locked ? PROT_NONE : protection, flags, fd, 0);
    if (at < 0 && at > -WIRE_PAGE)
        return NULL;
    if (locked) {
        sys2(SYS_munlock, at, bytes);
        sys3(SYS_mprotect, at, bytes, protection);
    }
    return (void *)at;
}
