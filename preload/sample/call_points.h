/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_points.h - points that are reached at both ends of calls that can sleep, and in them.
 */
#ifndef HCCT_CALL_POINTS_H
#define HCCT_CALL_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* The thread is sampled, by timers that a call may meet which is made with our signal open. On the
 * thread, any context. */
bool call_points_may_open(struct agent_thread *thread);
/* At the beginning of a call of the function `which` (sleep_number), at `time` of CLOCK_MONOTONIC:
 * a point that was reached, and whose tick is late, is sampled at `place`. Our signal will be
 * blocked in the call (`masked`), or open. On the thread, between ticks. */
void call_points_begin(struct agent_thread *thread, size_t which, const struct sleep_place *place,
                       uint64_t time, bool masked);
/* At its end, after `took_ns`: what was reached in it is sampled there. The signal is still as it
 * was in the call. */
void call_points_end(struct agent_thread *thread, size_t which, const struct sleep_place *place,
                     uint64_t time, uint64_t took_ns, bool masked);

#endif
