/*
 * freeze.h - from the daemon's processes to a neutral profile.
 */
#ifndef HCCT_FREEZE_H
#define HCCT_FREEZE_H

#include <stddef.h>

#include "common/assemble/freeze_tree.h"
#include "daemon/ingest/process.h"

/* Copies of processes' trees. */
struct freeze_copies {
    struct freeze_part *part;
    size_t n;
    uint64_t window_ns; /* 0: since the start */
    uint64_t now, span_ns;
};

/* Copies the trees of these processes, as of now; with window_ns (PANES_SPAN_MAX_NS at most), what
 * came in the last so many ns alone. The counters are the window's then, too; threads, runs and
 * what was refused to threads are as ever. Processes that are finished and have no weight in it are
 * left out. False: there is no memory, and nothing is held. */
bool freeze_take(struct freeze_copies *copies, struct process *const *processes, size_t n,
                 uint64_t window_ns);
void freeze_forget(struct freeze_copies *copies);

/* The profile of the copies, of the processes that they were made of; see freeze_trees(). Gets
 * memory by memory.h. */
struct profile *freeze(const struct freeze_copies *copies, struct process *const *processes,
                       size_t n, const struct freeze_params *params, uint32_t **module_of);

void freeze_part_free(struct freeze_part *part); /* what it holds */

/* The same in a part, of the moment at which its tree is copied: the process's lock is held. */
void freeze_describe_locked(struct process *process, struct freeze_part *part);

/* What is known of a process but what is its tree's. Strings are the process's, or constants. */
void freeze_describe(struct process *process, struct profile_process *out);

#endif
