/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marks.h - moments that programs have marked (hcct.h), of this hcctd's life.
 *
 * Each user has the last MARKS_USER_MAX of their own: who marks without end takes nothing from
 * others. Names are what programs say, without control characters.
 *
 * Thread-safe.
 */
#ifndef HCCT_MARKS_H
#define HCCT_MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/ingest/process.h"

#define MARKS_USER_MAX 1000u
#define MARKS_TEXT     128u /* bytes of other texts; longer ones are cut */

struct mark {
    uint64_t time_ns; /* on the clock of sub-windows (windows.h) */
    uid_t uid;
    pid_t pid;
    char name[WIRE_MARK_ROOM];
    char exe[MARKS_TEXT], command[MARKS_TEXT], tags[TAGS_ROOM];
};

/* Takes in what a process has marked since the last time. Its lock is held. */
void marks_take(struct process *process);

/* Calls `visit` for each, those of a user in the order in which they were taken in. `visit` may
 * call nothing of this file. */
void marks_each(void (*visit)(void *arg, const struct mark *mark), void *arg);

#endif
