/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * start.c - the order in which the agent comes up, and what it does at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "preload/calls/call_burst.h"
#include "preload/calls/calls.h"
#include "preload/encode/encode.h"
#include "preload/life/agent.h"
#include "preload/life/attach.h"
#include "preload/life/confine.h"
#include "preload/life/fork.h"
#include "preload/life/glibc.h"
#include "preload/life/handler.h"
#include "preload/life/handler_room.h"
#include "preload/life/hooks_of_all.h"
#include "preload/life/modules.h"
#include "preload/life/program_name.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/life/thread_life.h"
#include "preload/python/runtime.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/edge.h"
#include "preload/sample/event_sample.h"
#include "preload/sample/system_call.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/real.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep.h"

/* Most programs of a build are over before they have a sample: these never meet the daemon. Not
 * where calls are counted, none of which may be lost; where sleep is profiled, which may begin at
 * once; where the daemon is asked about the parent, which may be gone; or where no tick would come
 * to a thread that sleeps. */
static bool may_attach_later(void) {
    const struct agent_settings *set = &agent.settings;
    return !set->attach_at_start && !settings_have(set, wire_of_events) && !set->encode &&
           set->collector == WIRE_COLLECT_WALKS && set->clock == WIRE_CLOCK_CPU && set->follow &&
           set->socket[0] == '/';
}

/* Where each call is to be seen, a program does not begin before its calls are redirected. */
static void await_call_sites(void) {
    bool all = agent.settings.encode || agent.settings.burst_length_ns == 0;
    struct wire_session *session = all ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    redirect_await(thread_self, session);
    if (agent.settings.encode)
        encode_follow(thread_self, session, 0);
    session_leave(thread_self);
}

/* Valgrind runs a translation of the program, whose times say nothing of it. It would report what a
 * walk reads as errors of the program; and in a child of fork it takes what is not inherited
 * (MADV_DONTFORK) for readable. It preloads a library of its own. */
static bool valgrind_runs_us(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

/* Once: the constructor, or an earlier report of a call. */
__attribute__((constructor)) static void agent_start(void) {
    static bool begun;
    if (begun)
        return;
    begun = true;
    calls_self = NULL;
    if (!glibc_is_here() || settings_are_off() || confine_was_born())
        return;
    real_resolve();
    if (!real_can_find_objects())
        return;
    settings_read(&agent.settings);
    program_name_read(agent.command, sizeof agent.command);
    if (!agent.settings.enable || agent.settings.socket[0] == '\0')
        return;
    if (valgrind_runs_us()) {
        settings_say(&agent.settings, false, "valgrind runs the program: ", "not profiled");
        return;
    }
    struct agent_process *process = agent_process_make();
    python_start();
    handler_room_start();
    if (process == NULL || !thread_start_main())
        return;
    if (!signal_start(agent.settings.signal)) {
        settings_say(&agent.settings, false, "no signal is free: ", "not profiled");
        return;
    }
    modules_start();
    redirect_start();
    call_burst_start();
    if (!event_sample_start())
        return;
    restart_start();
    system_call_start();
    sleep_start();
    fork_watch();
    agent.process = process;
    process->pid = (pid_t)sys0(SYS_getpid);
    agent.process->earlier_ns = ticker_now(CLOCK_PROCESS_CPUTIME_ID);
    if (may_attach_later()) {
        process->awaits = true;
        modules_note_all();
        trigger_expect();
    } else if (session_attach(true)) {
        agent_learn_modules();
        await_call_sites();
        event_sample_await();
    }
    handler_room_begin(thread_self, ticker_now(CLOCK_THREAD_CPUTIME_ID));
    encode_begin(thread_self);
    /* before: exec, the loader, and what the agent itself has taken */
    trigger_start(thread_self, UINT64_MAX);
    calls_begin(thread_self);
    signal_unblock_first();
}

__attribute__((destructor)) static void agent_end(void) {
    if (!agent_started() || thread_self == NULL || confine_is_quiet())
        return;
    edge_sample_last(thread_self, EDGE_CALLER);
    handler_room_leave();
    wall_leave();
    session_note_end(thread_self);
    redirect_learn_opened(false);
    calls_at_exit(thread_self);
}

__thread uint32_t sleep_burst;

/* All threads are known from their beginning. */
static struct agent_thread *adopt_none(struct agent_thread *owner, const ucontext_t *uc) {
    (void)owner;
    (void)uc;
    return NULL;
}

const struct agent_hooks agent_hooks = {.start = agent_start, HOOKS_OF_ALL, .adopt = adopt_none};
