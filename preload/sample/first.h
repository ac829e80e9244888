/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * first.h - the first tick of a thread that is sampled by its CPU timer alone (on the wall clock),
 * so that threads and processes shorter than a sampling period have their share.
 *
 * The CPU time of a thread counts from `since`, most often from its beginning; draw.h has the laws.
 * No tick is served before the timer runs, so what was used until then has a sample of its own, by
 * roulette: the timer expires at once then.
 */
#ifndef HCCT_FIRST_H
#define HCCT_FIRST_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/sample/plan.h"

/* Starts the thread's CPU timer. `since`: CPU time from which on it is to be sampled, UINT64_MAX:
 * from now on. `at_tick`: a tick of the kernel has just come. Any context; on the thread or while
 * it can't run. */
void first_begin(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                 bool at_tick);

/* The next tick of the CPU timer is first_tick's. Signal context. */
static inline bool first_pending(const struct agent_thread *thread) {
    return thread->trigger.first.pending;
}

/* What that tick weighs, 0: it is no sample. Sets what the timer does next. Signal context,
 * first_pending. */
uint64_t first_tick(struct agent_thread *thread, const struct sampling_plan *plan);

#endif
