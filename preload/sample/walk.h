/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk.h - the stack walk collector: one sample of the interrupted thread.
 */
#ifndef HCCT_WALK_H
#define HCCT_WALK_H

#include <stdbool.h>
#include <ucontext.h>

#include "preload/life/thread.h"

struct walk_cost {
    uint32_t stepped, reread; /* frames; what is dearer than a step counts as several */
    uint32_t copied; /* words of the ring that a copy of the stack took; or COPIES_NO_ROOM */
};

/* Walks the stack of the calling thread from `uc` and sends the context with `weight`; where that
 * is not possible, counts it as lost. Signal context, inside the session. */
struct walk_cost walk_sample(struct agent_thread *thread, struct wire_session *session,
                             struct wire_slot *slot, uint64_t weight, const ucontext_t *uc);

/* What a walk of its own goes by, which leaves the thread's last one as it is: `use` may make steps
 * from that stack pointer upwards, with a cache of its own. Signal context, inside the session. */
struct unwind_env;
void walk_lend(struct agent_thread *thread, struct wire_session *session, uint64_t sp,
               void (*use)(const struct unwind_env *env, void *arg), void *arg);

/* Walks, too, and sends nothing: the frames are in thread->memo. False: the walk did not reach the
 * root. Signal context, inside the session. */
bool walk_whole(struct agent_thread *thread, struct wire_session *session, const ucontext_t *uc);

#endif
