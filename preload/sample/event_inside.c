/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_inside.c - signals are blocked by a system call of its own.
 */
#include "preload/sample/event_inside.h"

#include <signal.h>
#include <stdint.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"

/* One that is not known yet where the agent came late is met here. */
static struct agent_thread *calling_thread(void) {
    struct agent_thread *thread = thread_self;
    if (hcct_likely(agent_hooks.meet_at_event == NULL) || (thread != NULL && thread_is_met(thread)))
        return thread;
    return agent_hooks.meet_at_event();
}

bool event_inside(event_function *function, const void *argument) {
    struct agent_thread *thread = calling_thread();
    uint64_t all = signal_all(), mask = 0;
    uint32_t before;
    if (!agent_started() || thread == NULL || !agent_owns_memory() ||
        !confine_enter(thread, &before))
        return false;
    bool blocked = sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, KERNEL_SIGSET_BYTES) == 0;
    if (blocked) {
        handler_stack_call(thread, function, argument);
        sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
    }
    confine_leave(thread, before);
    return blocked;
}
