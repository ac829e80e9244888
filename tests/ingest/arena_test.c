/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arena_test.c - unwind tables of one user's programs take no room from another's, however many
 * there are, and are bounded in all.
 */
#include "daemon/ingest/arena.h"

#include <sys/stat.h>

#include "common/code/module.h"
#include "common/wire/wire.h"
#include "daemon/ingest/robust.h"
#include "tests/check.h"

#define FLOODER  ((uid_t)65501)
#define OTHER    ((uid_t)65502)
#define TABLE    (4u << 20)
#define SESSIONS 8u

static char table[TABLE];

static uint64_t allocated(const struct arena *arena) {
    struct stat info;
    CHECK(fstat(arena_fd(arena), &info) == 0);
    return (uint64_t)info.st_blocks * 512;
}

/* Sessions that all live, each of which wants tables until there is room for none. */
static void test_flood(void) {
    struct arena *arena[SESSIONS];
    struct arena *before = arena_get(OTHER);
    uint64_t sum = 0, seen = 0;
    uint32_t module = 0;
    for (unsigned i = 0; i < SESSIONS; i++) {
        arena[i] = arena_get(FLOODER);
        CHECK(arena[i] != NULL && arena[i] != before);
        while (arena_store(arena[i], ++module, TABLE_UNWIND, table, sizeof table) >= WIRE_PAGE)
            ;
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        if (i == 0 || arena[i] != arena[i - 1]) {
            sum += allocated(arena[i]);
            seen++;
        }
    CHECK(seen >= 2 && sum <= ARENA_USER_BYTES);

    struct arena *after = arena_get(OTHER);
    CHECK(after == before); /* it was not filled by anybody */
    CHECK(arena_store(after, 1, TABLE_UNWIND, table, 4096) >= WIRE_PAGE);
    arena_put(before);
    arena_put(after);
    for (unsigned i = 0; i < SESSIONS; i++)
        arena_put(arena[i]);

    /* what has ended makes room */
    struct arena *again = arena_get(FLOODER);
    CHECK(arena_store(again, ++module, TABLE_UNWIND, table, sizeof table) >= WIRE_PAGE);
    arena_put(again);
}

/* The entry of a module that is gone says nothing of the one that has its place now. */
static void test_place(void) {
    const uint32_t old = 7, now = 7 + MODULE_PLACES;
    struct arena *arena = arena_get(OTHER);
    uint64_t at = arena_store(arena, old, TABLE_UNWIND, table, 4096);
    CHECK_UINT(arena_lookup(arena, old, TABLE_UNWIND), at);
    CHECK_UINT(arena_lookup(arena, now, TABLE_UNWIND), WIRE_TABLE_PENDING);
    CHECK(arena_store(arena, now, TABLE_UNWIND, table, 4096) != at);
    arena_put(arena);
}

int main(void) {
    robust_begin();
    test_place();
    test_flood();
    return check_report();
}
