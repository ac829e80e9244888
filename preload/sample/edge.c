/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * edge.c - a sample that no signal has asked for.
 */
#include "preload/sample/edge.h"

#include <sys/syscall.h>
#include <ucontext.h>

#include "preload/life/agent.h"
#include "preload/life/child_ends.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/burst.h"
#include "preload/sample/own_time.h"

struct due {
    const struct sleep_place *caller;
    uint64_t within;
};

static void take_one(struct agent_thread *thread, const struct sleep_place *caller) {
    struct sleep_place none, shown;
    ucontext_t uc = {0};
    sleep_show(thread, &uc, caller, &none);
    struct wire_session *session = session_enter(thread);
    burst_catch(thread, session, &uc);
    if (session != NULL)
        session_leave(thread);
    sleep_show(thread, &uc, &none, &shown);
}

/* What is due now, and up to a moment that samples do not move: one may take longer than it is to
 * the next (a debugger steps the thread). Only the one that attaches does, once: it takes as long
 * as the end of a small process, all of which is yet to come then. */
static void take(struct agent_thread *thread, const void *arg) {
    const struct due *due = arg;
    bool has_looked = session_was_looked_for();
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID), until = now + due->within;
    while (now <= until && burst_is_due(thread, until - now)) {
        take_one(thread, due->caller);
        now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
        if (!has_looked && session_was_looked_for()) {
            has_looked = true;
            until = now + due->within;
        }
    }
}

/* As in the handler, no signal comes meanwhile. A tick that was on its way finds that its point is
 * over. One that came before, when this had been looked for, may have taken the point, or ended
 * sampling. */
void edge_sample_inside(struct agent_thread *thread, const struct sleep_place *caller,
                        uint64_t within) {
    const struct due due = {caller, within};
    uint64_t before;
    if (!burst_is_due(thread, within) || !signal_block_all(&before))
        return;
    handler_stack_call(thread, take, &due);
    signal_put_back(before);
}

/* Before the thread has its part of a session nothing is sampled here, but at its end. */
void edge_sample_own(struct agent_thread *thread, const struct sleep_place *caller, bool ends) {
    struct sleep_place here = *caller;
    if (!ends && thread->stream->slot == NULL)
        return;
    thread->trigger.nap.own_weight = own_time_weight(thread, ends);
    here.pc = (uintptr_t)edge_sample_own;
    here.call = 0;
    if (thread->trigger.nap.own_weight != 0)
        edge_sample_inside(thread, &here, 0);
    thread->trigger.nap.own_weight = 0;
}

void edge_sample(struct agent_thread *thread, struct sleep_place caller) {
    uint32_t before;
    if (!confine_enter(thread, &before))
        return;
    edge_sample_inside(thread, &caller, 0);
    confine_leave(thread, before);
}

void edge_sample_last(struct agent_thread *thread, struct sleep_place caller) {
    uint32_t before;
    if (!confine_enter(thread, &before))
        return;
    if (agent.process->is_child)
        caller.call = 1 + SYS_exit_group; /* most of it is the kernel's */
    edge_sample_inside(thread, &caller, agent.process->is_child ? child_ends_rest() : 0);
    edge_sample_own(thread, &caller, true);
    child_ends_note();
    confine_leave(thread, before);
}
