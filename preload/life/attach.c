/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.c - a session for a program that is about to lose sight of the daemon.
 */
#include "preload/life/attach.h"

#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/thread.h"
#include "preload/wrap/sleep.h"

/* The daemon begins with the tables at once; until they are there, raw stacks are sent. */
void agent_learn_modules(void) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    modules_learn_all(thread_self, session);
    session_leave(thread_self);
}

/* Unless a handler forks that has interrupted a call with our signal blocked: the call unblocks. */
void agent_unblock(void) {
    if (sleep_masked == 0)
        signal_unblock();
}

/* A child knows what its parent knew: the loader's lock may belong to a thread that is not in the
 * child. */
static void look_now(bool in_child) {
    signal_block_for_fork();
    if (session_attach(true) && !in_child)
        agent_learn_modules();
    agent_unblock();
}

void agent_announce(void) {
    if (agent_started() && thread_self != NULL && session_is_awaited() && agent_owns_memory())
        look_now(false);
}

/* Where each call is counted a child has looked already, and in bursts it does at a tick alone. */
void agent_announce_child(void) {
    bool may = agent_started() && thread_self != NULL && !session_was_looked_for() &&
               agent.settings.follow && agent.settings.collector == WIRE_COLLECT_WALKS;
    if (may && agent_owns_memory())
        look_now(!agent.process->awaits);
}
