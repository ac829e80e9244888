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
/* At both ends of a call of the function `which` (sleep_number) that can sleep, at `time` of
 * CLOCK_MONOTONIC: a point that was reached, and whose tick is late or blocked, is sampled at
 * `place`. The signal is as it is in the call: blocked (`masked`) or open. A timer that has waited
 * for the call's end is set anew. On the thread, between ticks. */
void call_points_begin(struct agent_thread *thread, size_t which, const struct sleep_place *place,
                       uint64_t time);
void call_points_end(struct agent_thread *thread, size_t which, const struct sleep_place *place,
                     uint64_t began, uint64_t time, bool masked);

#endif
