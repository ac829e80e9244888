/*
 * agent.c - the order in which the agent comes up, in a process and in its children.
 */
#include "preload/life/agent.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/calls/calls.h"
#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/modules.h"
#include "preload/life/program_name.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/edge.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/real.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep.h"

struct agent_globals agent;

/* A page that a child finds empty, however it was made. */
static struct agent_process *make_process_page(void) {
    long at =
        sys6(SYS_mmap, 0, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -WIRE_PAGE)
        return NULL;
    if (sys3(SYS_madvise, at, WIRE_PAGE, MADV_WIPEONFORK) != 0)
        return NULL;
    return (struct agent_process *)at;
}

static void before_fork(void) {
    if (!agent_started() || thread_self == NULL)
        return;
    signal_block_for_fork();
    session_before_fork();
    redirect_before_fork();
    calls_before_fork();
}

bool agent_owns_memory(void) {
    return agent_started() && !confine_is_quiet() && agent.process->pid == (pid_t)sys0(SYS_getpid);
}

/* Unless a handler forks that has interrupted a call with our signal blocked: the call unblocks. */
static void unblock_after_fork(void) {
    if (sleep_masked == 0)
        signal_unblock();
}

static void after_fork_parent(void) {
    if (!agent_started() || thread_self == NULL)
        return;
    session_after_fork();
    redirect_after_fork_parent();
    calls_after_fork_parent();
    edge_sample(thread_self, EDGE_CALLER);
    unblock_after_fork();
}

/* The child looks for the daemon at its first sample, not now: most children call exec at once. */
void agent_start_in_child(uint64_t since) {
    agent.process->pid = (pid_t)sys0(SYS_getpid);
    agent.earlier_ns = 0;
    confine_forget_held();
    if (thread_self != NULL)
        trigger_inherit(thread_self);
    thread_forget_others();
    modules_alone();
    if (thread_self != NULL && agent.settings.follow)
        trigger_start(thread_self, since);
}

/* The daemon begins with the tables at once; until they are there, raw stacks are sent. A child
 * asks for what its parent knew: the loader's lock may belong to a thread that is not in the
 * child. */
static void learn_modules(bool in_child) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    if (in_child)
        modules_learn_again(thread_self, session);
    else
        modules_learn_all(thread_self, session);
    session_leave(thread_self);
}

/* Calls are not to be lost, so the child looks for the daemon now. */
static void start_calls_in_child(void) {
    bool exhaustive = agent.settings.burst_length_ns == 0;
    if (agent.settings.collector != WIRE_COLLECT_CALLS || thread_self == NULL)
        return;
    if (exhaustive && session_attach(true))
        learn_modules(true);
    calls_after_fork_child();
}

static void after_fork_child(void) {
    if (confine_is_quiet())
        return;
    calls_enter_child();
    redirect_after_fork_child();
    agent_start_in_child(0);
    if (agent.settings.follow)
        start_calls_in_child();
    if (thread_self != NULL)
        edge_sample(thread_self, EDGE_CALLER);
    unblock_after_fork();
}

/* Most programs of a build are over before they have a sample: these never meet the daemon. Not
 * where calls are counted, none of which may be lost; where sleep is profiled, which may begin at
 * once; where the daemon is asked about the parent, which may be gone; or where no tick would come
 * to a thread that sleeps. */
static bool may_attach_later(void) {
    const struct agent_settings *set = &agent.settings;
    return SLEEP_IS_WRAPPED && !set->attach_at_start && set->collector == WIRE_COLLECT_WALKS &&
           set->clock == WIRE_CLOCK_CPU && set->follow && set->socket[0] == '/';
}

static void look_now(bool in_child) {
    signal_block_for_fork();
    if (session_attach(true))
        learn_modules(in_child);
    unblock_after_fork();
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

/* Where each call is to be seen, a program does not begin before its calls are redirected. */
static void await_call_sites(void) {
    struct wire_session *session =
        agent.settings.burst_length_ns == 0 ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    redirect_await(thread_self, session);
    session_leave(thread_self);
}

/* Valgrind runs a translation of the program, whose times say nothing of it. It would report what a
 * walk reads as errors of the program; and in a child of fork it takes what is not inherited
 * (MADV_DONTFORK) for readable. It preloads a library of its own. */
static bool valgrind_runs_us(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

__attribute__((constructor)) void agent_start(void) {
    static bool begun;
    if (begun)
        return;
    begun = true;
    calls_self = NULL;
    if (!glibc_is_here() || confine_was_born())
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
    struct agent_process *process = make_process_page();
    if (process == NULL || !thread_start_main())
        return;
    if (!signal_start(agent.settings.signal)) {
        settings_say(&agent.settings, false, "no signal is free: ", "not profiled");
        return;
    }
    modules_start();
    redirect_start();
    restart_start();
    sleep_start();
    __register_atfork(before_fork, after_fork_parent, after_fork_child, &__dso_handle);
    agent.process = process;
    process->pid = (pid_t)sys0(SYS_getpid);
    agent.earlier_ns = ticker_now(CLOCK_PROCESS_CPUTIME_ID);
    if (may_attach_later()) {
        process->awaits = true;
        modules_note_all();
        trigger_expect();
    } else if (session_attach(true)) {
        learn_modules(false);
        await_call_sites();
    }
    /* before: exec, the loader, and what the agent itself has taken */
    trigger_start(thread_self, UINT64_MAX);
    calls_begin(thread_self);
    signal_unblock_first();
}

__attribute__((destructor)) static void agent_end(void) {
    if (!agent_started() || thread_self == NULL || confine_is_quiet())
        return;
    edge_sample(thread_self, EDGE_CALLER);
    wall_leave();
    calls_at_exit(thread_self);
}
