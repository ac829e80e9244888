/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * resume.h - a program that has another session: its profile goes on where it stopped.
 */
#ifndef HCCT_RESUME_H
#define HCCT_RESUME_H

#include <stdbool.h>

#include "daemon/ingest/process.h"

/* `process`, which nobody else knows yet, takes over the tree and counters of `old`, and what its
 * user set: a live process that is ended by that (its agent took us for dead), or one from a
 * checkpoint; both must be the same program. `old` is empty then. False: nothing was done, as
 * stacks of `old` are still being unwound. */
bool resume(struct process *process, struct process *old);

#endif
