/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * identity.c - what the kernel says of a process, and of its executable.
 */
#include "daemon/ingest/identity.h"

#include <stdio.h>
#include <sys/stat.h>

#include "daemon/ingest/proc_stat.h"

bool identity_read(pid_t pid, struct process_identity *identity) {
    struct proc_stat process;
    struct stat file;
    char link[64];
    *identity = (struct process_identity){0};
    if (!proc_stat_read(pid, &process))
        return false;
    identity->start_ticks = process.start_ticks;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    if (stat(link, &file) == 0) {
        identity->exe_device = file.st_dev;
        identity->exe_inode = file.st_ino;
    }
    return true;
}

bool identity_same(const struct process_identity *a, const struct process_identity *b) {
    return a->start_ticks == b->start_ticks && a->exe_device == b->exe_device &&
           a->exe_inode == b->exe_inode;
}
