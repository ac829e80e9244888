/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process_copies.h - copies of the trees of the daemon's processes, and the profile of them.
 */
#ifndef HCCT_PROCESS_COPIES_H
#define HCCT_PROCESS_COPIES_H

#include <stddef.h>

#include "common/assemble/assemble.h"
#include "daemon/ingest/process.h"
#include "daemon/ingest/windows.h"

/* Copies of processes' trees. */
struct process_copies {
    struct assemble_part *part;
    size_t n;
    const struct subwindows_part *window; /* NULL: since the start */
    uint64_t now, span_ns, end_ns;
};

/* Copies the trees of these processes, as of now; with a window, what came in that part of the past
 * alone. The counters are the window's then, too; threads, runs
 * and what was refused to threads are as ever. Processes that are finished and have no weight in it
 * are left out. False: there is no memory, and nothing is held. */
bool process_copies_take(struct process_copies *copies, struct process *const *processes, size_t n,
                         const struct subwindows_part *window);
/* Beside the trees, contexts that programs have asked the numbers of: without a window, of the same
 * processes. False: there is no memory. */
bool process_copies_take_numbers(struct process_copies *copies, struct process *const *processes);
/* The profile is to be of these processes alone, or of a part of their time: how many children they
 * have forked says nothing of it. */
void process_copies_leave_children(struct process_copies *copies);
void process_copies_free(struct process_copies *copies);

/* The profile of the copies, of the processes that they were made of; see assemble_trees(). Gets
 * memory by memory.h. */
struct profile *process_copies_profile(const struct process_copies *copies,
                                       struct process *const *processes, size_t n,
                                       const struct assemble_params *params, uint32_t **module_of);

void assemble_part_free(struct assemble_part *part); /* what it holds */

/* The same in a part, of the moment at which its tree is copied: the process's lock is held. */
void assemble_describe_locked(struct process *process, struct assemble_part *part);

/* What is known of a process but what is its tree's. Strings are the process's, or constants. */
void process_describe(struct process *process, struct profile_process *out);

#endif
