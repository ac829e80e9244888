/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * proc_stat.h - what the kernel says of a process in /proc/PID/stat.
 */
#ifndef HCCT_PROC_STAT_H
#define HCCT_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
    pid_t parent;
    uint64_t cpu_ns; /* user and system time of all its threads */
    uint64_t threads;
    uint64_t start_ticks; /* after boot: with its number, that of no other process */
    uint64_t children_ns; /* of children that it has waited for, theirs included; to 20 ms */
};

/* False when there is no such process any more (a zombie still is one). */
bool proc_stat_read(pid_t pid, struct proc_stat *stat);

#endif
