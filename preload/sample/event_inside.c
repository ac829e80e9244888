/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_inside.c - signals are blocked by a system call of its own.
 */
#include "preload/sample/event_inside.h"

#include <stdint.h>
#include <time.h>

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/sample/ticker.h"

#define COST_EVERY 17u /* of a block that is followed there are two: no even number */

/* One that is not known yet where the agent came late is met here. */
static struct agent_thread *calling_thread(void) {
    struct agent_thread *thread = thread_self;
    if (hcct_likely(agent_hooks.meet_at_event == NULL) || (thread != NULL && thread_is_met(thread)))
        return thread;
    return agent_hooks.meet_at_event();
}

/* Signals are blocked, and opened again in the end, which takes as long. */
static bool block_signals(struct agent_thread *thread, uint64_t *mask) {
    bool measured = ++thread->events % COST_EVERY == 0;
    uint64_t before = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    bool blocked = signal_block_all(mask);
    uint64_t took = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) - before : 0;
    thread->event_since_ns = before - took;
    return blocked;
}

void event_charge(struct agent_thread *thread, struct wire_slot *slot) {
    uint64_t since = thread->event_since_ns;
    if (since == 0)
        return;
    thread->event_since_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (slot != NULL)
        session_count(slot, WIRE_HANDLER_NS, COST_EVERY * (thread->event_since_ns - since));
}

bool event_inside(event_function *function, const void *argument) {
    struct agent_thread *thread = calling_thread();
    uint64_t mask;
    uint32_t before;
    if (!agent_started() || thread == NULL || !agent_owns_memory() ||
        !confine_enter(thread, &before))
        return false;
    bool blocked = block_signals(thread, &mask);
    if (blocked) {
        handler_stack_call(thread, function, argument);
        signal_put_back(mask);
    }
    confine_leave(thread, before);
    return blocked;
}
