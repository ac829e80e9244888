/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * threads.h - the threads of one profiled process, one by one.
 */
#ifndef HCCT_THREADS_H
#define HCCT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/ingest/process.h"

#define THREAD_NAME_BYTES (THREAD_NAME_ROOM - 1) /* of struct wire_slot */

struct process_thread {
    uint32_t tid; /* as the agent says; in a container, another number than ours */
    char name[THREAD_NAME_BYTES + 1]; /* any bytes, terminated */
    bool ended;                       /* and not all that it wrote has been read */
    bool broken;                      /* its ring was closed because of what was in it */
    char state;      /* as the kernel says it in /proc ('R', 'S', ...); 0: not known */
    uint64_t cpu_ns; /* user and system time, as the kernel says; 0: not known */
    uint64_t credited_ns, walks, complete, lost, handler_ns; /* as wire.h has them */
};

/* What the threads that are gone have done together. */
struct process_threads_ended {
    uint32_t threads;
    uint64_t credited_ns, walks, complete, lost, handler_ns;
};

/* What the thread of a slot is called now: any bytes, terminated, and some; "main" of the main
 * thread. `name` holds what is known so far, empty: nothing. The process's lock is held. */
void threads_name(const struct process *process, const struct wire_slot *slot,
                  char name[THREAD_NAME_ROOM]);

/* The threads of the process that are profiled now, in a malloc'ed array that the caller frees; *n
 * says how many. A finished process has none. NULL: none, or no memory. Takes the process's lock,
 * with a reference held. */
struct process_thread *process_threads(struct process *process, size_t *n,
                                       struct process_threads_ended *ended);

#endif
