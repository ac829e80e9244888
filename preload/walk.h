/*
 * walk.h - the stack walk collector: one sample of the interrupted thread.
 */
#ifndef HCCT_WALK_H
#define HCCT_WALK_H

#include <ucontext.h>

#include "preload/thread.h"

/* Walks the stack of the calling thread from `uc` and sends the context with thread->owed_ns, which
 * becomes 0 when it was sent. Signal context, inside the session. */
void walk_sample(struct agent_thread *thread, struct wire_session *session, struct wire_slot *slot,
                 const ucontext_t *uc);

#endif
