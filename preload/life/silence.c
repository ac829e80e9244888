/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * silence.c - one thread, or all, leave the profile before they confine themselves.
 */
#include "preload/life/silence.h"

#include <time.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/life/attach.h"
#include "preload/life/confine.h"
#include "preload/life/handler.h"
#include "preload/life/handler_stack.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread_life.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/edge.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/handler_masks.h"

#define REST_NS 20000000

/* A thread that a timer has woken, but whose signal has gone with the timer, goes on with its sleep
 * by a system call of the kernel's own making (restart_syscall), which the filter may not allow.
 * They do so before: whether all have is not known. */
static void let_others_sleep(void) {
    const struct timespec rest = {0, REST_NS};
    if (confine_has_others())
        sys2(SYS_nanosleep, &rest, 0);
}

/* The session is there as before: to write into it takes no system call. */
static void count(struct agent_thread *thread, bool all) {
    uint32_t threads = 0;
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    for (struct agent_thread *t = thread_first(); t != NULL && all; t = t->next)
        threads += atomic_load(&t->used) != 0;
    atomic_fetch_add(&session->confined, all ? threads : 1);
    session_leave(thread);
}

static void leave_process(struct agent_thread *thread, const struct sleep_place *caller) {
    if (thread != NULL) {
        edge_sample_inside(thread, caller, 0);
        wall_leave();
        calls_end(thread);
    }
    redirect_suspend();
    atomic_store(&confine_all, true);
    if (agent_started()) { /* else a child that has no timers yet */
        confine_wait_for_others();
        for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
            trigger_stop(t);
    }
    if (thread != NULL)
        signal_block_hidden(thread->hidden_signal);
    signal_stop();
    let_others_sleep();
    sleep_burst = 0;
}

void confine_begin(struct confine *what, bool all, const struct sleep_place *caller) {
    *what = (struct confine){.some_before = atomic_load(&confine_some), .signal = signal_number()};
    if (agent.process == NULL || atomic_load(&confine_all))
        return;
    if (agent_started() && !agent_owns_memory())
        return;       /* a child that shares its parent's memory has nothing of ours */
    agent_announce(); /* what was sampled so far is to be seen */
    handler_mask_allow_stacks(signal_number()); /* later there is no call for it */
    what->thread = agent_started() ? thread_self : NULL;
    what->which = all || !confine_has_others() ? CONFINE_PROCESS : CONFINE_THREAD;
    if (what->which == CONFINE_PROCESS) {
        leave_process(what->thread, caller);
        return;
    }
    if (what->thread != NULL) {
        edge_sample_inside(what->thread, caller, 0);
        thread_step_out(what->thread);
    }
    atomic_store(&confine_some, true);
}

static void resume_process(int signal) {
    signal_resume(signal);
    atomic_store(&confine_all, false);
    redirect_resume();
    for (struct agent_thread *t = thread_first(); t != NULL && agent_started(); t = t->next)
        if (atomic_load(&t->used) != 0 && !t->ending)
            trigger_resume(t);
    if (agent_started() && thread_self != NULL)
        calls_begin(thread_self);
}

void confine_end(const struct confine *what, bool done) {
    struct agent_thread *thread = what->thread;
    if (done && thread != NULL)
        count(thread, what->which == CONFINE_PROCESS);
    if (done && what->which == CONFINE_THREAD && thread != NULL && !handler_stack_is_relied_on())
        thread_release(thread);
    if (done)
        return;
    if (what->which == CONFINE_PROCESS)
        resume_process(what->signal);
    if (what->which == CONFINE_THREAD)
        atomic_store(&confine_some, what->some_before);
    if (what->which == CONFINE_THREAD && thread != NULL)
        thread_step_in(thread);
}

bool confine_for_good(const struct sleep_place *caller) {
    struct confine all;
    if (agent.process == NULL || atomic_load(&confine_all) || !agent_owns_memory())
        return false;
    confine_begin(&all, true, caller);
    confine_end(&all, true);
    return true;
}
