/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sampling.h - what the triggers share: the plan that the session asks for, and one sample.
 */
#ifndef HCCT_SAMPLING_H
#define HCCT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "preload/life/thread.h"

/* As the session asks for now, of a session that is on. Any context, inside the session. */
struct sampling_plan sampling_plan(struct wire_session *session);

/* As the settings ask for, where there is no session yet. Any context. */
struct sampling_plan sampling_plan_asked(void);

/* Walks and credits thread->unsent_ns. After walks that were dear, chance decides whether there is
 * one. What could not be sent is lost, and counted. `session`: NULL where the process has none yet;
 * then the daemon is looked for, by chance as well, unless another thread does so: then the sample
 * is lost. False: no walk. Signal context, inside the session. */
bool sampling_walk(struct agent_thread *thread, struct wire_session *session, const ucontext_t *uc);

/* The handler took `ns` of CPU time with the sampling_walk in it: corrects what a frame is taken to
 * cost. Signal context. */
void sampling_measured(struct agent_thread *thread, uint64_t ns);

#endif
