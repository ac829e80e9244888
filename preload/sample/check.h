/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * check.h - HCCT_CHECK=1: each walk is made twice, and what the memoized one says is compared with
 * a full one. Beside that it answers how often the pair (pc, stack height) tells contexts apart,
 * which Mytkowicz, Coughlin and Diwan (OOPSLA 2009) took for an identifier of a context.
 */
#ifndef HCCT_CHECK_H
#define HCCT_CHECK_H

#include "preload/life/thread.h"
#include "preload/sample/unwind.h"

/* Memory for a thread's checks; NULL: none. Thread or process context. */
struct check *check_new(void);
/* Forgets what it has seen: another thread uses it now. */
void check_reset(struct check *check);

/* Compares `frames`, where a walk has ended at `end`, with a full walk from thread->interrupted,
 * and counts. Signal context, inside the session. */
void check_walk(struct agent_thread *thread, struct wire_slot *slot, const struct unwind_env *env,
                const struct shown *frames, uint32_t limit, enum unwind_end end);

#endif
