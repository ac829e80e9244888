/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arena.c - a sparse memfd; pages are allocated before they are written, so that full memory is an
 * error here and not a SIGBUS. In front of its mapping lies memory of our own, for the entry by
 * which the kernel finds the word in its first page (robust.h).
 */
#include "daemon/ingest/arena.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/code/module.h"
#include "common/wire/unwind_table.h"
#include "common/wire/wire.h"
#include "daemon/ingest/robust.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define NEARLY_FULL (ARENA_BYTES / 4 * 3)

_Static_assert(ROBUST_DISTANCE % WIRE_PAGE_MOST == 0 && offsetof(struct wire_arena, daemon) == 0,
               "what is in front begins at that distance");

/* What a user's sessions have: an arena for new ones, and those of old ones that still run. */
struct owner {
    struct owner *next;
    uid_t uid;
    struct arena *current; /* holds a reference */
    uint64_t used;         /* of all of the user's arenas */
};

struct arena {
    int fd;
    unsigned refs;
    struct owner *owner;
    struct robust_entry *entry; /* what is in front */
    char *base;
    uint64_t used;
    struct stored {
        uint32_t module; /* whose it is */
        uint64_t offset[TABLE_KINDS];
    } * stored; /* by module_place() */
    uint32_t room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct owner *owners; /* none ever goes */

static bool map(struct arena *arena) {
    char *at = mmap(NULL, ROBUST_DISTANCE + ARENA_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    arena->entry = (struct robust_entry *)(void *)at;
    arena->base = at + ROBUST_DISTANCE;
    return mmap(arena->base, ARENA_BYTES, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE | MAP_FIXED, arena->fd, 0) != MAP_FAILED;
}

static bool open_memory(struct arena *arena) {
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    arena->fd = memfd_create("hcct-tables", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return arena->fd >= 0 && ftruncate(arena->fd, (off_t)ARENA_BYTES) == 0 &&
           fallocate(arena->fd, 0, 0, WIRE_PAGE) == 0 && map(arena) &&
           fcntl(arena->fd, F_ADD_SEALS, seals) == 0;
}

static void destroy(struct arena *arena) {
    if (arena->entry != NULL)
        munmap(arena->entry, ROBUST_DISTANCE + ARENA_BYTES);
    if (arena->fd >= 0)
        close(arena->fd);
    free(arena->stored);
    free(arena);
}

static struct arena *make(struct owner *owner) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->refs = 1;
    arena->owner = owner;
    arena->used = WIRE_PAGE; /* what the header takes; small offsets are WIRE_TABLE_* */
    if (!open_memory(arena)) {
        destroy(arena);
        return NULL;
    }
    owner->used += arena->used;
    robust_add(arena->entry);
    return arena;
}

static void release(struct arena *arena) {
    if (--arena->refs > 0)
        return;
    robust_remove(arena->entry);
    arena->owner->used -= arena->used;
    destroy(arena);
}

/* NULL: no memory. */
static struct owner *owner_of(uid_t uid) {
    struct owner *owner = owners;
    while (owner != NULL && owner->uid != uid)
        owner = owner->next;
    if (owner == NULL && (owner = calloc(1, sizeof *owner)) != NULL) {
        owner->uid = uid;
        owner->next = owners;
        owners = owner;
    }
    return owner;
}

/* A user who has as much as may be goes on with the arena that there is. */
static bool is_spent(const struct owner *owner) {
    return owner->current != NULL && owner->current->used > NEARLY_FULL &&
           owner->used <= ARENA_USER_BYTES - ARENA_BYTES;
}

struct arena *arena_get(uid_t uid) {
    struct arena *arena = NULL;
    pthread_mutex_lock(&lock);
    struct owner *owner = owner_of(uid);
    if (owner != NULL && is_spent(owner)) {
        release(owner->current);
        owner->current = NULL;
    }
    if (owner != NULL && owner->current == NULL)
        owner->current = make(owner);
    if (owner != NULL && (arena = owner->current) != NULL)
        arena->refs++;
    pthread_mutex_unlock(&lock);
    return arena;
}

struct arena *arena_ref(struct arena *arena) {
    pthread_mutex_lock(&lock);
    arena->refs++;
    pthread_mutex_unlock(&lock);
    return arena;
}

void arena_put(struct arena *arena) {
    if (arena == NULL)
        return;
    pthread_mutex_lock(&lock);
    release(arena);
    pthread_mutex_unlock(&lock);
}

int arena_fd(const struct arena *arena) {
    return arena->fd;
}

static uint64_t known(const struct arena *arena, uint32_t module, enum table_kind kind) {
    uint32_t place = module_place(module);
    bool is_known = place < arena->room && arena->stored[place].module == module;
    return is_known ? arena->stored[place].offset[kind] : WIRE_TABLE_PENDING;
}

uint64_t arena_lookup(struct arena *arena, uint32_t module, enum table_kind kind) {
    pthread_mutex_lock(&lock);
    uint64_t offset = known(arena, module, kind);
    pthread_mutex_unlock(&lock);
    return offset;
}

static bool make_room(struct arena *arena, uint32_t place) {
    if (place < arena->room)
        return true;
    uint32_t n = place + 64;
    struct stored *stored = realloc(arena->stored, n * sizeof *stored);
    if (stored == NULL)
        return false;
    memset(stored + arena->room, 0, (n - arena->room) * sizeof *stored);
    arena->stored = stored;
    arena->room = n;
    return true;
}

static uint64_t put(struct arena *arena, const void *table, size_t bytes) {
    uint64_t at = arena->used;
    if (table == NULL || bytes > ARENA_BYTES - at ||
        fallocate(arena->fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes) != 0)
        return WIRE_TABLE_NONE;
    memcpy(arena->base + at, table, bytes);
    arena->used = (at + bytes + UNWIND_TABLE_ALIGN - 1) / UNWIND_TABLE_ALIGN * UNWIND_TABLE_ALIGN;
    arena->owner->used += arena->used - at;
    return at;
}

uint64_t arena_store(struct arena *arena, uint32_t module, enum table_kind kind, const void *table,
                     size_t bytes) {
    uint64_t offset = WIRE_TABLE_NONE;
    pthread_mutex_lock(&lock);
    if (known(arena, module, kind) != WIRE_TABLE_PENDING) {
        offset = known(arena, module, kind);
    } else if (make_room(arena, module_place(module))) {
        offset = put(arena, table, bytes);
        struct stored *stored = &arena->stored[module_place(module)];
        if (stored->module != module)
            *stored = (struct stored){.module = module};
        stored->offset[kind] = offset;
    }
    pthread_mutex_unlock(&lock);
    return offset;
}

const void *arena_table(const struct arena *arena, uint64_t offset) {
    return offset >= WIRE_PAGE ? arena->base + offset : NULL;
}
