/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * deferred_unwind.h - raw stack samples are unwound by threads with a worker child each, in turns
 * of users, and credited.
 *
 * No stack is lost: one that can't be unwound (its process has too many on their way, the worker
 * fails over it) is credited to the mark "no unwind rule", and counted. A stack keeps its process
 * from being freed and folded; nobody but a query waits for it.
 */
#ifndef HCCT_DEFERRED_UNWIND_H
#define HCCT_DEFERRED_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/ingest/process.h"
#include "daemon/ingest/raw_sample.h"

/* Starts the threads. False: none can be had. */
bool deferred_unwind_start(void);
/* Ends them when the stacks under way are done; those that wait are not unwound any more. */
void deferred_unwind_stop(void);

/* Weight of `n` stacks that there was no room for; `root`: what their contexts begin with, as a
 * reader has it. The process's lock is held. */
void deferred_unwind_refuse(struct process *process, const struct context_root *root, uint64_t n,
                            uint64_t weight);

/* Moves what the process's readers have read to `taken`, and counts it as under way. The process's
 * lock is held. */
void deferred_unwind_take(struct process *process, struct raw_sample_list *taken);

/* Queues what was taken. Any thread that has a reference to the process, without its lock. */
void deferred_unwind_submit(struct process *process, struct raw_sample_list *taken);

/* Waits until all stacks of the process that were read before are credited, or for a few seconds at
 * most. Any thread but the ingest thread, without the process's lock. */
void deferred_unwind_wait(struct process *process);

#endif
