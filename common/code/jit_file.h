/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_file.h - the files in which a process lists its generated code: where they are, and which are
 * believed.
 *
 * Paths and PIDs are as the process itself sees them (its root directory, its PID there). A file is
 * opened only if it is a regular one of the process's user or of root, and written since the
 * process was started: nobody removes these files, and PIDs come again. Thread-safe.
 */
#ifndef HCCT_JIT_FILE_H
#define HCCT_JIT_FILE_H

#include <stdint.h>
#include <sys/types.h>

/* Where a process's files are, for when it is over. */
struct jit_place {
    int root; /* a descriptor of its root directory, -1: none */
    long own_pid;
    uint64_t start_ns;
};

void jit_place_keep(pid_t pid, struct jit_place *place);
void jit_place_drop(struct jit_place *place);
/* As jit_file_open_map(), of a process that may be over. */
int jit_place_open_map(const struct jit_place *place, uid_t uid);

/* When a process was started, by CLOCK_BOOTTIME; 0: it is gone. */
uint64_t jit_file_start(pid_t pid);

/* A descriptor for reading of /tmp/perf-PID.map; -1: there is none. `pid` and `uid` as the daemon
 * sees them. */
int jit_file_open_map(pid_t pid, uid_t uid);

/* The same of the jitdump (jit-PID.dump, in any directory) that the process has mapped, as perf
 * finds it. Reads the list of what is mapped. */
int jit_file_open_dump(pid_t pid, uid_t uid);

#endif
