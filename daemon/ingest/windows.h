/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * windows.h - what a process did lately: the sub-windows (tree/subwindows.h) beside its tree.
 *
 * Kept of processes whose stacks are walked, some thousands of events a second at most. Calls come
 * a thousand times faster: a second tree would halve the speed at which they can be counted.
 *
 * Weight is dated by when the daemon credits it: some hundredths of a second after the walk, or,
 * where a stack came as a copy, after that was unwound. A finished process keeps its sub-windows
 * until they are an hour old.
 */
#ifndef HCCT_WINDOWS_H
#define HCCT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/ingest/process.h"

/* Closes the sub-window that is over. To be called before anything is credited; costs a comparison
 * most of the time. The process's lock is held. */
void windows_turn(struct process *process, uint64_t now);

/* The same from outside, for a process that is not drained any more, and without the lock; a
 * finished one whose sub-windows are all too old has none from then on. */
void windows_expire(struct process *process, uint64_t now);

struct windows_sum {
    struct mcct *tree; /* NULL: nothing is kept; the caller's to mcct_free() */
    uint64_t span_ns;  /* up to `now` */
    struct process_stats
        stats; /* of the span: counters, CPU time and raw samples; the rest as ever */
    struct scatter_effects effects; /* since the start; the caller's to free */
};

/* The last span_ns before `now`, which is not before the last credit. Without the lock. False: no
 * memory. */
bool windows_sum(struct process *process, uint64_t now, uint64_t span_ns, struct windows_sum *sum);

/* `into`, which nobody else knows yet, goes on with the sub-windows of `from`, whose counters it
 * has. The lock of `from` is held. */
void windows_resume(struct process *into, struct process *from);

/* All sub-windows of `from`, which is finished, to `into`, which is so too. Both locks are held. To
 * be called before the statistics of `from` are added to those of `into`. */
void windows_fold(struct process *into, struct process *from);

#endif
