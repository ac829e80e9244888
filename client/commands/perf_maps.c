/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_maps.c - in /tmp, where others have files, too: who owns one is known by the file itself,
 * and only its owner can put another in its place.
 */
#include "client/commands/perf_maps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands/written_since.h"

void perf_maps_remove(pid_t pid, const struct timespec *since) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
    if (pid <= 0 || (kill(pid, 0) == 0 || errno != ESRCH) || lstat(path, &status) != 0)
        return;
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        written_since(&status.st_mtim, since))
        unlink(path);
}
