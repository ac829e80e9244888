/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * edge.h - samples at the beginning and at the end of a thread or process, and where it forks.
 *
 * A point that lies before the timer was set, or is reached right before the end, would have a tick
 * inside the agent, or none: short threads would lack a good part of their time. While a thread
 * forks our signal is blocked. What is due is credited where the agent notices these.
 */
#ifndef HCCT_EDGE_H
#define HCCT_EDGE_H

#include <stdint.h>

#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* Where the function that asks for it was called. Its caller's frame pointer is right even where
 * other registers are not: what stands between is libc's. */
#define EDGE_CALLER                                                                                \
    ((struct sleep_place){.pc = (uint64_t)(uintptr_t)__builtin_return_address(0),                  \
                          .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                        \
                          .frame = *(const uint64_t *)__builtin_frame_address(0),                  \
                          .returned = true})

/* Takes the sample of what the calling thread has reached, where it may make system calls for the
 * agent (confine.h). Thread context. */
void edge_sample(struct agent_thread *thread, struct sleep_place caller);
/* The same where the process ends. */
void edge_sample_last(struct agent_thread *thread, struct sleep_place caller);
/* The same, inside confine_enter, of all that it will have reached `within` ns of its CPU time. */
void edge_sample_inside(struct agent_thread *thread, const struct sleep_place *caller,
                        uint64_t within);

/* The same of what the agent has taken for its timers (own_time.h): the agent's, called from
 * `caller`. `ends`: nothing of it may be left to later. */
void edge_sample_own(struct agent_thread *thread, const struct sleep_place *caller, bool ends);

#endif
