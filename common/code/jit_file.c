/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_file.c - opened below the process's own root, where links lead nowhere else.
 */
#include "common/code/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"

#define MILLISECOND   1000000ull
#define MAPPINGS_MAX  65536u /* lines of a list that are read */
#define MAPPING_BYTES 4400   /* of a line: a path may have 4096 */

/* ---- the process ---- */

/* The process's PID in its innermost namespace, which is the one that it knows itself by. */
static long own_pid(pid_t pid) {
    char path[64], line[256];
    long own = (long)pid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return own;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        const char *last = strrchr(line, '\t');
        own = last != NULL ? strtol(last + 1, NULL, 10) : own;
        break;
    }
    fclose(f);
    return own;
}

/* The name before may hold anything, so that the text is read from its last parenthesis on. */
uint64_t jit_file_start(pid_t pid) {
    char path[64], text[1024];
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL || sscanf(at, " %" SCNu64, &ticks) != 1)
        return 0;
    return ticks * (1000 * MILLISECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ---- files ---- */

void jit_place_keep(pid_t pid, struct jit_place *place) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    *place = (struct jit_place){.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
                                .own_pid = own_pid(pid),
                                .start_ns = jit_file_start(pid)};
}

void jit_place_drop(struct jit_place *place) {
    if (place->root >= 0)
        close(place->root);
    place->root = -1;
}

/* An O_PATH descriptor of what has this path below the process's own root: links in it lead nowhere
 * but below that. */
static int find(int root, const char *path) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    if (root < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or refused */
        fd = openat(root, path + strspn(path, "/"), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd;
}

/* Is it of this process, and not what an earlier one with its PID has left? The clocks of files and
 * processes are coarse, so that a second is given. */
static bool is_acceptable(uint64_t start_ns, uid_t uid, int fd) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        (info.st_uid != uid && info.st_uid != 0) || start_ns == 0)
        return false;
    uint64_t start = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_BOOTTIME) - start_ns);
    uint64_t written = (uint64_t)info.st_mtim.tv_sec * 1000 * MILLISECOND;
    return written + 1000 * MILLISECOND >= start;
}

static int open_path(const struct jit_place *place, uid_t uid, const char *path) {
    char name[64];
    int fd = -1, found = find(place->root, path);
    if (found < 0)
        return -1;
    if (is_acceptable(place->start_ns, uid, found)) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", found);
        fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    close(found);
    return fd;
}

int jit_place_open_map(const struct jit_place *place, uid_t uid) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", place->own_pid);
    return open_path(place, uid, path);
}

int jit_file_open_map(pid_t pid, uid_t uid) {
    struct jit_place place;
    jit_place_keep(pid, &place);
    int fd = jit_place_open_map(&place, uid);
    jit_place_drop(&place);
    return fd;
}

/* The path of a line of /proc/PID/maps, when it ends in `name`. */
static const char *path_that_ends(char *line, const char *name) {
    size_t end = strcspn(line, "\n"), length = strlen(name);
    line[end] = '\0';
    char *path = strchr(line, '/');
    if (path == NULL || end < length || strcmp(line + end - length, name) != 0)
        return NULL;
    return path;
}

int jit_file_open_dump(pid_t pid, uid_t uid) {
    char list[64], name[64], line[MAPPING_BYTES];
    struct jit_place place;
    int fd = -1;
    jit_place_keep(pid, &place);
    snprintf(list, sizeof list, "/proc/%d/maps", (int)pid);
    snprintf(name, sizeof name, "/jit-%ld.dump", place.own_pid);
    FILE *f = fopen(list, "re");
    for (unsigned n = 0; f != NULL && fd < 0 && n < MAPPINGS_MAX; n++) {
        if (fgets(line, sizeof line, f) == NULL)
            break;
        const char *path = path_that_ends(line, name);
        if (path != NULL)
            fd = open_path(&place, uid, path);
    }
    if (f != NULL)
        fclose(f);
    jit_place_drop(&place);
    return fd;
}
