/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * identity.h - is it the same program as before? Numbers of processes are used again.
 */
#ifndef HCCT_IDENTITY_H
#define HCCT_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* With the process's number. An exec of the same file is recognised by wire_hello.sessions alone.
 */
struct process_identity {
    uint64_t start_ticks;           /* after boot */
    uint64_t exe_device, exe_inode; /* 0: not known */
};

/* As it is now. False: there is no such process. */
bool identity_read(pid_t pid, struct process_identity *identity);

bool identity_same(const struct process_identity *a, const struct process_identity *b);

#endif
