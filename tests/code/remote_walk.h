/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_walk.h - walks of a test's own stack from its copy, and the names by the unwind tables.
 */
#ifndef HCCT_REMOTE_WALK_H
#define HCCT_REMOTE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/raw_stack.h"
#include "common/code/remote_unwind.h"

/* A walk with images opened as they are asked for; the program ends where one can't be. The next
 * walk overwrites its frames. */
struct unwound_stack walk_of(struct remote_unwinder *unwinder, struct raw_stack *stack);

/* What the agent would call the routine at a pc: by the table that it gets. 0: it has no name. Sets
 * *is_signal when the routine is a signal frame's, and to false when it is another. */
uint64_t routine_by_table(uint64_t pc, bool *is_signal);

#endif
