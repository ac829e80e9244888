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

/* The clock of sub-windows: that of the day, as it was when it was first asked for, going on
 * evenly. So borders of sub-windows are whole minutes of it. `now`: clock_now(). */
uint64_t windows_time(uint64_t now);
/* The first moment of it: windows of this hcctd begin no earlier. */
uint64_t windows_begin(void);
/* The moment `ns` of the clock of the day on that of sub-windows, and back. */
uint64_t windows_time_of_day(uint64_t ns);
uint64_t windows_day_of_time(uint64_t ns);

struct windows_sum {
    struct mcct *tree; /* NULL: nothing is kept; the caller's to mcct_free() */
    uint64_t span_ns;  /* so long, in whole sub-windows */
    uint64_t end_ns;   /* its end, on the clock of sub-windows */
    struct process_stats
        stats; /* of the span: counters, CPU time and raw samples; the rest as ever */
    struct scatter_effects effects; /* since the start; the caller's to free */
};

/* Of a part of what lies before `now`, on the clock of sub-windows, which is not before the last
 * credit. Without the lock. False: no memory. */
bool windows_sum(struct process *process, uint64_t now, const struct subwindows_part *part,
                 struct windows_sum *sum);

/* Calls `visit` for each sub-window that has weight, on the clock of sub-windows. Without the lock.
 */
void windows_each_cell(struct process *process, uint64_t now,
                       void (*visit)(void *arg, const struct subwindows_cell *cell), void *arg);

/* `into`, which nobody else knows yet, goes on with the sub-windows of `from`, whose counters it
 * has. The lock of `from` is held. */
void windows_resume(struct process *into, struct process *from);

/* All sub-windows of `from`, which is finished, to `into`, which is so too. Both locks are held. To
 * be called before the statistics of `from` are added to those of `into`. */
void windows_fold(struct process *into, struct process *from);

#endif
