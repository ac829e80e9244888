/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sight.c - through /proc/PID/root.
 */
#include "client/attach/sight.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/wire/compiler.h"

static bool is_one(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool shares(pid_t pid, const char *what) {
    char path[64];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    if (stat(path, &its) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/%s", what);
    return stat(path, &ours) == 0 && is_one(&its, &ours);
}

bool sight_is_ours(pid_t pid) {
    return shares(pid, "ns/mnt") && shares(pid, "root");
}

bool sight_has_our_pids(pid_t pid) {
    return shares(pid, "ns/pid");
}

int sight_open(pid_t pid, const char *path, int flags) {
    char name[64];
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    snprintf(name, sizeof name, "/proc/%d/root", (int)pid);
    int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    int error = errno;
    close(root);
    errno = error;
    return fd;
}

static bool same_content(int one, int other) {
    char a[16384], b[sizeof a];
    ssize_t n, m;
    do {
        n = read(one, a, sizeof a);
        m = read(other, b, sizeof b);
    } while (n > 0 && n == m && memcmp(a, b, (size_t)n) == 0);
    return n == 0 && m == 0;
}

bool sight_has_file(pid_t pid, const char *path) {
    struct stat its, ours;
    int there = sight_open(pid, path, O_RDONLY | O_NONBLOCK),
        here = open(path, O_RDONLY | O_CLOEXEC);
    bool same = there >= 0 && here >= 0 && fstat(there, &its) == 0 && fstat(here, &ours) == 0 &&
                S_ISREG(its.st_mode) && its.st_size == ours.st_size &&
                (is_one(&its, &ours) || same_content(there, here));
    if (there >= 0)
        close(there);
    if (here >= 0)
        close(here);
    return same;
}

static bool is_same_socket(pid_t pid, const char *seen, const struct stat *ours) {
    struct stat its;
    int there = sight_open(pid, seen, O_PATH);
    bool same = there >= 0 && fstat(there, &its) == 0 && is_one(&its, ours);
    if (there >= 0)
        close(there);
    return same;
}

bool sight_of_socket(pid_t pid, const char *path, char seen[PATH_MAX]) {
    const char *const places[] = {path, "/run/hcct/hcctd.sock"};
    struct stat ours;
    snprintf(seen, PATH_MAX, "%s", path);
    if (sight_is_ours(pid))
        return true;
    for (size_t i = 0; stat(path, &ours) == 0 && i < HCCT_ARRAY_LEN(places); i++)
        if (is_same_socket(pid, places[i], &ours)) {
            snprintf(seen, PATH_MAX, "%s", places[i]);
            return true;
        }
    return false;
}

/* Not its "self", which is ours to follow. */
bool sight_has_proc(pid_t pid) {
    int fd = sight_open(pid, "/proc/version", O_PATH);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
