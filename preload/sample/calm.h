/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calm.h - the functions whose calls were short of late, by thread: they may be called with our
 * signal open (wrap/sleep_open.h).
 *
 * `which`: the function's number (sleep_number). On the thread itself, any context.
 */
#ifndef HCCT_CALM_H
#define HCCT_CALM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/life/thread.h"

bool calm_is(const struct agent_thread *thread, size_t which);
/* A call has ended after so long. */
void calm_learn(struct agent_thread *thread, size_t which, uint64_t ns);
/* The thread's calls of it are not to be open any more. */
void calm_never(struct agent_thread *thread, size_t which);
/* A tick has met a call asleep. */
void calm_met(struct agent_thread *thread, size_t which);

#endif
