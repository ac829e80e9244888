/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * proc_stat.c - fields 4, 14 to 17, 20 and 22; the command name before them may hold anything, so
 * the text is read from its last parenthesis on.
 */
#include "daemon/ingest/proc_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* To the ns, where /proc has hundredths of a second; also of a zombie. */
static bool cpu_clock(pid_t pid, uint64_t *ns) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}

bool proc_stat_read(pid_t pid, struct proc_stat *stat) {
    char path[64], text[1024];
    uint64_t user, system, of_children[2], threads, start;
    const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    int parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *after_name = strrchr(text, ')');
    if (after_name == NULL ||
        sscanf(after_name + 1,
               " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %*d %*d %" SCNu64 " %*d %" SCNu64,
               &parent, &user, &system, &of_children[0], &of_children[1], &threads, &start) != 7)
        return false;
    stat->parent = parent;
    stat->children_ns = (of_children[0] + of_children[1]) * tick_ns;
    stat->threads = threads;
    stat->start_ticks = start;
    if (!cpu_clock(pid, &stat->cpu_ns))
        stat->cpu_ns = (user + system) * tick_ns;
    return true;
}
