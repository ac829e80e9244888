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

/* Signals are blocked, and opened again in the end, which takes as long. Of one that is measured
 * the clock is read four times: each takes a system call, up to a third of an event, and is no part
 * of those that are not measured. The first two tell what one takes. */
static bool block_signals(struct agent_thread *thread, uint64_t *mask) {
    bool measured = ++thread->events % COST_EVERY == 0;
    uint64_t first = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    uint64_t before = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0, reading = before - first;
    bool blocked = signal_block_all(mask);
    uint64_t took = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) - before : 0;
    uint64_t blocking = took > reading ? took - reading : 0;
    thread->event_since_ns = measured ? before - blocking + 2 * reading : 0;
    thread->event_reading_ns = reading;
    return blocked;
}

void event_charge(struct agent_thread *thread, struct wire_slot *slot) {
    uint64_t since = thread->event_since_ns;
    if (since == 0)
        return;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (slot != NULL && now > since)
        session_count(slot, WIRE_HANDLER_NS, COST_EVERY * (now - since));
    thread->event_since_ns = now + thread->event_reading_ns;
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
