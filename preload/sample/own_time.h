/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_time.h - what the agent takes for its timers, on the clock of the thread that they belong to.
 *
 * A timer of real time comes early where the thread has slept, and has to be set again. That is so
 * of a thread whose next point is near, and of no other: if the clock that points lie on went on
 * meanwhile, it would carry the thread to its point. A thread that ends soon would have a sample
 * that it has not worked for (N of threads that live for 0.7 ms and sleep eight times was 15 % too
 * high). So that clock stands still, and the time is credited to the agent by itself.
 *
 * On the thread, our signal blocked.
 */
#ifndef HCCT_OWN_TIME_H
#define HCCT_OWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

#define OWN_TIME_STEP_NS 30000
/* What a step of the agent's takes that seems to have taken so long: one that is longer has waited
 * for a processor. */
static inline uint64_t own_time_at_most(uint64_t ns) {
    return ns < OWN_TIME_STEP_NS ? ns : OWN_TIME_STEP_NS;
}

/* The agent has worked for so long, and the clock that points lie on has stood still. */
void own_time_leave_out(struct agent_thread *thread, uint64_t ns);
/* The same, from `since` of CLOCK_MONOTONIC on: how long that was, as far as it can have been the
 * agent's. */
uint64_t own_time_since(struct agent_thread *thread, uint64_t since);
/* It was for a timer, and is to be credited to the agent. */
void own_time_for_timer(struct agent_thread *thread, uint64_t ns);

/* How long it takes to set the fine timer, as far as is known: of a thread that has set none, as it
 * took others. */
uint32_t own_time_of_setting(const struct agent_thread *thread);
/* It has taken so long: three of four times no longer is what is learned. */
void own_time_learn_setting(struct agent_thread *thread, uint64_t took);

/* What a sample of the agent is to weigh that stands for what is due: a good part of a step at
 * least, or at the thread's end (`ends`) whatever there is. 0: none is to be taken. */
uint64_t own_time_weight(struct agent_thread *thread, bool ends);

#endif
