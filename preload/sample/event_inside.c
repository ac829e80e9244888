/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_inside.c - signals are blocked by a system call of its own.
 */
#include "preload/sample/event_inside.h"

#include <stdint.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks.h"
#include "preload/life/signal.h"

/* One that is not known yet where the agent came late is met here. */
static struct agent_thread *calling_thread(void) {
    struct agent_thread *thread = thread_self;
    if (hcct_likely(agent_hooks.meet_at_event == NULL) || (thread != NULL && thread_is_met(thread)))
        return thread;
    return agent_hooks.meet_at_event();
}

bool event_inside(event_function *function, const void *argument) {
    struct agent_thread *thread = calling_thread();
    uint64_t mask;
    uint32_t before;
    if (!agent_started() || thread == NULL || !agent_owns_memory() ||
        !confine_enter(thread, &before))
        return false;
    bool blocked = signal_block_all(&mask);
    if (blocked) {
        handler_stack_call(thread, function, argument);
        signal_put_back(mask);
    }
    confine_leave(thread, before);
    return blocked;
}
