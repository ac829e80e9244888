/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_maps.c - in /tmp, where others have files, too: who owns one is known by the file itself,
 * and only its owner can put another in its place.
 */
#include "client/commands/perf_maps.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Clocks of file systems are as coarse as the kernel's ticks. */
#define COARSE_NS 20000000

static bool is_since(const struct timespec *at, const struct timespec *since) {
    int64_t seconds = (int64_t)at->tv_sec - since->tv_sec;
    return seconds > 1 ||
           (seconds >= -1 && seconds * 1000000000 + at->tv_nsec - since->tv_nsec + COARSE_NS >= 0);
}

void perf_maps_remove(pid_t pid, const struct timespec *since) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
    if (pid <= 0 || (kill(pid, 0) == 0 || errno != ESRCH) || lstat(path, &status) != 0)
        return;
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid() && is_since(&status.st_mtim, since))
        unlink(path);
}
