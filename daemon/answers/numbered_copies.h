/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbered_copies.h - contexts that have numbers, out of a process and into a part of a profile.
 */
#ifndef HCCT_NUMBERED_COPIES_H
#define HCCT_NUMBERED_COPIES_H

#include <stdbool.h>

#include "common/assemble/assemble.h"
#include "daemon/ingest/process.h"

/* All of a process's. False: no memory. */
bool numbered_copy_all(struct process *process, struct assemble_part *part);

/* That number and its callers', if the process has it and all of them. False: no memory. The
 * process's lock is held. */
bool numbered_copy_one(const struct numbered *numbered, uint64_t number,
                       struct assemble_part *part);

#endif
