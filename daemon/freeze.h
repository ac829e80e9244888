/*
 * freeze.h - from the daemon's processes to a neutral profile.
 */
#ifndef HCCT_FREEZE_H
#define HCCT_FREEZE_H

#include <stddef.h>

#include "daemon/freeze_tree.h"
#include "daemon/ingest/process.h"

/* The profile of these processes, as of now; see freeze_trees(). */
struct profile *freeze(struct process *const *processes, size_t n,
                       const struct freeze_params *params, uint32_t **module_of);

/* The same, of the last window_ns (PANES_SPAN_MAX_NS at most) alone. The counters are the window's,
 * too; threads, runs and what was refused to threads are as ever. Processes that are finished and
 * have no weight in it are left out. */
struct profile *freeze_window(struct process *const *processes, size_t n, uint64_t window_ns,
                              const struct freeze_params *params, uint32_t **module_of);

/* What is known of a process but what is its tree's. Strings are the process's, or constants. */
void freeze_describe(struct process *process, struct profile_process *out);

#endif
