/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fork.c - what happens around a fork, in the parent and in the child.
 */
#include "preload/life/fork.h"

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/life/attach.h"
#include "preload/life/child_ends.h"
#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/handler_room.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/block_sample.h"
#include "preload/sample/edge.h"
#include "preload/sample/pass_over.h"
#include "preload/sample/trigger.h"
#include "preload/wrap/sleep.h"

static void before_fork(void) {
    if (!agent_started() || thread_self == NULL)
        return;
    trigger_before_sleep(); /* what it waits in the fork is not the last sleep's */
    signal_block_for_fork();
    if (!confine_is_quiet()) {
        trigger_attach_at_fork(thread_self);
        child_ends_expect();
    }
    session_before_fork();
    redirect_before_fork();
    calls_before_fork();
}

/* What a fork costs is its own, and not that of libc's function that has called us. */
static void sample_fork(struct sleep_place caller) {
    pass_over_note(caller.pc);
    caller.call = 1 + SYS_clone;
    edge_sample(thread_self, caller);
}

/* A tick that has waited for it finds what it waited for. */
static void unblock_after_fork(void) {
    thread_self->shown_call = 1 + SYS_clone;
    agent_unblock();
    thread_self->shown_call = 0;
}

static void after_fork_parent(void) {
    if (!agent_started() || thread_self == NULL)
        return;
    session_after_fork();
    redirect_after_fork_parent();
    calls_after_fork_parent();
    sample_fork(EDGE_CALLER);
    unblock_after_fork();
}

/* The child looks for the daemon at its first sample, not now: most children call exec at once. */
void agent_start_in_child(uint64_t since) {
    agent.process->pid = (pid_t)sys0(SYS_getpid);
    confine_forget_held();
    if (thread_self != NULL)
        trigger_inherit(thread_self);
    thread_forget_others();
    if (thread_self != NULL)
        handler_room_begin_in_child(thread_self);
    modules_alone();
    if (thread_self != NULL && agent.settings.follow)
        trigger_start(thread_self, since);
}

/* Calls are not to be lost, so the child looks for the daemon now. */
static void start_calls_in_child(void) {
    bool exhaustive = agent.settings.burst_length_ns == 0;
    if (agent.settings.collector != WIRE_COLLECT_CALLS || thread_self == NULL)
        return;
    if (exhaustive)
        (void)session_attach(true);
    calls_after_fork_child();
}

static void after_fork_child(void) {
    if (confine_is_quiet())
        return;
    if (agent.settings.collector == WIRE_COLLECT_CALLS)
        calls_enter_child();
    if (redirect_is_meant()) /* else there is no code of theirs to be loaded, nor memory to be
                                copied */
        redirect_after_fork_child();
    block_sample_in_child();
    agent.process->is_child = true;
    agent_start_in_child(0);
    if (agent.settings.follow)
        start_calls_in_child();
    if (thread_self == NULL) {
        agent_unblock();
        return;
    }
    sample_fork(EDGE_CALLER);
    sleep_open(); /* a program that the child executes is to have our signal open */
    unblock_after_fork();
}

void fork_watch(void) {
    __register_atfork(before_fork, after_fork_parent, after_fork_child, &__dso_handle);
}
