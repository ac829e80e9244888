/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_room.c - one sum, compared with a quarter of the memory of the machine or of the control
 * group.
 */
#include "daemon/ingest/session_room.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/wire/wire.h"
#include "daemon/ingest/proc_stat.h"

#define PART 4 /* of the memory that there is, all sessions may have one in so many */

static _Atomic uint64_t taken;
static uint64_t limit;
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

/* ---- the memory that there is ---- */

/* The group of this process in the one hierarchy (cgroup v2), such as "/a/b"; false: none. */
static bool own_group(char *group, size_t room) {
    char line[PATH_MAX];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof line, f) != NULL)
        found = strncmp(line, "0::/", 4) == 0;
    fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return found && (size_t)snprintf(group, room, "%s", line + 3) < room;
}

/* UINT64_MAX: it has no limit of its own. */
static uint64_t limit_of(const char *group) {
    char path[PATH_MAX + 64];
    uint64_t bytes;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return UINT64_MAX;
    if (fscanf(f, "%" SCNu64, &bytes) != 1)
        bytes = UINT64_MAX;
    fclose(f);
    return bytes;
}

/* A group has no more than any of those that it is in. */
static uint64_t memory_of_group(void) {
    char group[PATH_MAX], *slash;
    uint64_t least = UINT64_MAX;
    if (!own_group(group, sizeof group))
        return least;
    do {
        uint64_t bytes = limit_of(group);
        least = bytes < least ? bytes : least;
        if ((slash = strrchr(group, '/')) != NULL)
            *slash = '\0';
    } while (slash != NULL);
    return least;
}

static void find_limit(void) {
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = memory_of_group();
    limit = (group < machine ? group : machine) / PART;
}

uint64_t session_room_limit(void) {
    pthread_once(&limit_once, find_limit);
    return limit;
}

/* ---- the sum ---- */

bool session_room_take(uint64_t bytes) {
    uint64_t old = atomic_load(&taken), max = session_room_limit();
    do {
        if (old > max || bytes > max - old)
            return false;
    } while (!atomic_compare_exchange_weak(&taken, &old, old + bytes));
    return true;
}

void session_room_give(uint64_t bytes) {
    atomic_fetch_sub(&taken, bytes);
}

uint64_t session_room_taken(void) {
    return atomic_load(&taken);
}

/* ---- one process ---- */

uint32_t session_room_slots(pid_t pid, uint64_t slot_bytes, uint32_t places) {
    struct proc_stat stat;
    uint64_t threads = proc_stat_read(pid, &stat) ? stat.threads : 0;
    uint64_t slots = SESSION_ROOM_SPARE / slot_bytes + 2 * threads * places;
    return slots < WIRE_SLOTS_MAX ? (uint32_t)slots : WIRE_SLOTS_MAX;
}
