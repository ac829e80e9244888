/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * forked.c - a fork while modules are redirected: no other thread is in the middle of a change, and
 * the child, which has their texts as they are, goes on with them.
 */
#include "preload/life/agent.h"
#include "preload/life/session.h"
#include "preload/redirect/enter.h"
#include "preload/redirect/lookup.h"
#include "preload/redirect/module_list.h"
#include "preload/redirect/opened.h"
#include "preload/redirect/places.h"
#include "preload/redirect/ready.h"
#include "preload/redirect/redirect.h"

static bool forking;   /* it is the forking thread that changes nothing */
static bool all_ready; /* nothing is to be heard in the parent */

static bool is_all_ready(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return ready_is_as_in_parent();
    bool ready = ready_is_all_answered(thread, session) || ready_is_as_in_parent();
    session_leave(thread);
    return ready && !opened_is_any();
}

void redirect_before_fork(void) {
    if (module_list_is_empty())
        return;
    all_ready = thread_self != NULL && is_all_ready(thread_self);
    bool ours = places_begin();
    for (int i = 0; !ours && i < PLACES_WAITS_FOR_OTHER; i++) {
        places_nap();
        ours = places_begin();
    }
    if (ours)
        forking = true;
}

static void end_fork(void) {
    if (!forking)
        return;
    forking = false;
    places_end();
}

void redirect_after_fork_parent(void) {
    end_fork();
    places_follow();
}

/* Where another thread was in dlclose, nothing changes places any more. Sessions are numbered anew,
 * and none has heard yet what is redirected: a burst need not wait for that. */
void redirect_after_fork_child(void) {
    places_after_fork_child();
    lookup_forget_readers();
    ready_after_fork_child(all_ready);
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (t->redirect != NULL) {
            t->redirect->epoch = UINT32_MAX; /* its rules were in the parent's memory */
            atomic_store(&t->redirect->uses, false);
            atomic_store(&t->redirect->dozes, false);
        }
    end_fork();
    places_follow();
}
