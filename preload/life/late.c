/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late.c - what happens when somebody attaches to the process, and detaches.
 */
#include "preload/life/late.h"

#include <string.h>

#include "preload/life/agent.h"
#include "preload/life/attach.h"
#include "preload/life/confine.h"
#include "preload/life/glibc.h"
#include "preload/life/handler_room.h"
#include "preload/life/handler_stack.h"
#include "preload/life/hooks_of_all.h"
#include "preload/life/late_bind.h"
#include "preload/life/late_threads.h"
#include "preload/life/modules.h"
#include "preload/life/program_name.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread_life.h"
#include "preload/python/runtime.h"
#include "preload/sample/block_sample.h"
#include "preload/sample/event_sample.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/sample/wall_leave.h"
#include "preload/sample/system_call.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"
#include "preload/wrap/restart.h"
#include "preload/wrap/sleep.h"

#define PATIENCE_NS   10000000000ull /* for a daemon, where the agent would leave without one */
#define FIRST_TICK_NS 1000000000u    /* until then its first tick may be still to come */

static uint64_t began_ns;
static uint32_t epoch_then; /* when this attachment began: sessions until then were others' */
static bool attached, leaving;

/* ---- the daemon has gone ---- */

static void leave_alone(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session != NULL) {
        session_leave(thread);
        return;
    }
    bool had_one = atomic_load(&agent.process->epoch) != epoch_then && !session_is_held();
    if (!had_one && ticker_now(CLOCK_MONOTONIC) - began_ns <= PATIENCE_NS)
        return;
    atomic_store(&agent.process->attached, false); /* nobody is met any more */
    event_sample_stop();
    trigger_leave(thread);
}

/* Where events alone are sampled: the daemon reads what is loaded where there is a ring, and is to
 * have done so before they come. */
static void ask_for_slot(struct agent_thread *thread) {
    bool asks = wire_of_events(agent.settings.collector) && thread->stream->slot == NULL &&
                !thread->stream->missed_slot;
    struct wire_session *session = asks ? session_enter(thread) : NULL;
    if (session == NULL)
        return;
    (void)session_slot(thread, session);
    session_leave(thread);
}

static void after_tick(struct agent_thread *thread) {
    ask_for_slot(thread);
    if (agent.settings.leaves)
        leave_alone(thread);
    late_threads_after_tick(thread);
    late_threads_search();
}

/* ---- around a fork ---- */

/* The child is not to have the descriptors of a handshake; and signals that come time and again
 * would keep the kernel from forking at all. */
static void before_fork(void) {
    if (!agent_started())
        return;
    if (thread_self != NULL) {
        trigger_before_sleep();
        signal_block_for_fork();
    }
    session_before_fork();
}

static void after_fork(void) {
    if (!agent_started())
        return;
    session_after_fork();
    if (thread_self != NULL)
        agent_unblock();
}

/* The child is not sampled: its wrappers, which are bound as its parent's, lead to libc. */
static void after_fork_in_child(void) {
    bool was_known = thread_self != NULL;
    modules_alone();
    late_bind_alone();
    event_sample_stop();
    thread_self = NULL;
    sleep_burst = LATE_UNMET;
    if (was_known)
        agent_unblock();
}

/* ---- once ---- */

static enum wire_attach_answer prepare(void) {
    static bool prepared;
    if (prepared)
        return WIRE_ATTACH_DONE;
    if (!glibc_is_here())
        return WIRE_ATTACH_NO_LIBC;
    next_symbol_from_first();
    real_resolve();
    if (!real_can_find_objects())
        return WIRE_ATTACH_NO_LIBC;
    agent.process = agent_process_make();
    if (agent.process == NULL)
        return WIRE_ATTACH_NO_MEMORY;
    program_name_read(agent.command, sizeof agent.command);
    handler_room_start();
    handler_stack_give_way(false); /* nothing would hide ours from the application */
    modules_start();
    restart_start();
    system_call_start();
    sleep_start();
    thread_start_late();
    __register_atfork(before_fork, after_fork, after_fork_in_child, &__dso_handle);
    prepared = true;
    return WIRE_ATTACH_DONE;
}

/* ---- each time ---- */

/* Ticks are of time, else of faults, else of nothing. */
static void set_metrics(struct agent_settings *settings, const struct wire_attach *request) {
    bool has_time = false, has_ticks = false;
    for (uint32_t i = 0; i < request->metrics && i < WIRE_METRICS_MAX; i++) {
        bool time = request->metric[i] == WIRE_COLLECT_WALKS;
        settings->metric[i] = (uint8_t)request->metric[i];
        settings->metrics = i + 1;
        if (request->metric[i] == WIRE_COLLECT_FAULTS)
            settings->faults = i;
        if (time || (!has_time && request->metric[i] == WIRE_COLLECT_FAULTS))
            settings->ticks_to = i;
        has_time |= time;
        has_ticks |= time || request->metric[i] == WIRE_COLLECT_FAULTS;
    }
    if (!has_ticks)
        settings->collector = settings->metric[0];
    settings->lines &= settings->faults != settings->ticks_to; /* of samples of time */
    settings->python &= settings->metrics == 1;
}

static bool has_events(const struct wire_attach *request) {
    for (uint32_t i = 0; i < request->metrics && i < WIRE_METRICS_MAX; i++)
        if (wire_of_events(request->metric[i]))
            return true;
    return false;
}

/* As often as the kernel's clock ticks a CPU timer does, which meets no thread that sleeps. */
static bool are_ticks_enough(const struct wire_attach *request) {
    return !has_events(request) && request->clock == WIRE_CLOCK_CPU &&
           (uint64_t)request->rate * ticker_resolution() <= SECOND_NS;
}

static void set(const struct wire_attach *request) {
    agent.settings = (struct agent_settings){.rate = request->rate,
                                             .clock = request->clock,
                                             .collector = WIRE_COLLECT_WALKS,
                                             .metrics = 1,
                                             .faults = WIRE_METRICS_MAX,
                                             .metric = {WIRE_COLLECT_WALKS},
                                             .every = 1,
                                             .credit = WIRE_CREDIT_LAST,
                                             .enable = true,
                                             .lines = request->lines != 0,
                                             .threads = request->threads != 0,
                                             .python = request->python != 0,
                                             .leaves = request->leaves != 0,
                                             .ticks_only = are_ticks_enough(request)};
    set_metrics(&agent.settings, request);
    memcpy(agent.settings.socket, request->socket, sizeof agent.settings.socket);
    memcpy(agent.settings.tags, request->tags, sizeof agent.settings.tags);
    agent.settings.socket[sizeof agent.settings.socket - 1] = '\0';
    agent.settings.tags[sizeof agent.settings.tags - 1] = '\0';
}

/* The process is a child of one that was attached to: what it knows of threads and timers is its
 * parent's. */
static void forget_parent(void) {
    confine_forget_held();
    modules_alone();
    late_bind_alone();
    event_sample_stop();
    thread_self = NULL;
    thread_forget_others();
    late_threads_forget();
}

static void begin_process(void) {
    agent.process->pid = (pid_t)sys0(SYS_getpid);
    agent.process->earlier_ns = ticker_now(CLOCK_PROCESS_CPUTIME_ID);
    began_ns = ticker_now(CLOCK_MONOTONIC);
    epoch_then = atomic_load(&agent.process->epoch);
}

/* Who attached with a daemon of its own was killed with it, or instead of it: nobody detaches. */
static bool is_abandoned(void) {
    struct wire_session *session = atomic_load(&agent.process->session);
    if (session != NULL)
        return session_was_ended(session, atomic_load(&agent.process->arena));
    return atomic_load(&agent.process->epoch) != epoch_then ||
           ticker_now(CLOCK_MONOTONIC) - began_ns > FIRST_TICK_NS;
}

static bool has_signal(void) {
    if (signal_number() != 0)
        signal_check_again();
    return signal_number() != 0 || signal_start(0);
}

static void stop_sampling(void) {
    atomic_store(&agent.process->attached, false);
    event_sample_stop();
    wall_leave_held();
    late_threads_count();
    session_give_back();
    late_threads_leave();
    attached = false;
    leaving = true;
}

/* Words are put back when no timer can interrupt what they lead to. */
static enum wire_attach_answer end(void) {
    if (!agent_started() || (!attached && !leaving))
        return WIRE_ATTACH_NOT;
    uint64_t mask = confine_hold();
    if (attached)
        stop_sampling();
    leaving = !late_threads_have_left() || !late_bind_end();
    confine_let_go(mask);
    return leaving ? WIRE_ATTACH_REST : WIRE_ATTACH_DONE;
}

/* Where none can be sampled, for want of something, there is nothing to stay for. */
static enum wire_attach_answer add_threads(struct wire_attach *request) {
    uint32_t fates[WIRE_ATTACH_FATES] = {0};
    late_threads_add(request, fates);
    for (unsigned i = 0; i < WIRE_ATTACH_FATES; i++)
        atomic_store(&request->fates[i], fates[i]);
    if (fates[WIRE_ATTACH_SAMPLED] == 0 && fates[WIRE_ATTACH_TIMERLESS] > 0)
        return WIRE_ATTACH_NO_TIMER;
    if (fates[WIRE_ATTACH_SAMPLED] == 0 && fates[WIRE_ATTACH_ROOMLESS] > 0)
        return WIRE_ATTACH_NO_MEMORY;
    return WIRE_ATTACH_DONE;
}

/* Calls lead to the wrappers already, which do nothing until then. */
static void begin_events(void) {
    if (settings_have(&agent.settings, wire_of_blocks))
        block_sample_renew();
    (void)event_sample_start();
}

static enum wire_attach_answer begin(struct wire_attach *request) {
    enum wire_attach_answer prepared = prepare();
    if (prepared != WIRE_ATTACH_DONE)
        return prepared;
    if (attached && agent.process->pid != 0 && agent.settings.leaves && is_abandoned())
        (void)end();
    if (attached && agent.process->pid != 0)
        return WIRE_ATTACH_ALREADY;
    if (agent.process->pid == 0)
        forget_parent();
    set(request);
    python_start();
    begin_process();
    if (atomic_load(&agent.process->session) == NULL)
        modules_note_all(); /* more may be loaded than the last time */
    if (!has_signal())
        return WIRE_ATTACH_NO_SIGNAL;
    uint64_t mask = confine_hold();
    session_may_begin();
    (void)late_threads_have_left();
    attached = true;
    leaving = false;
    atomic_store(&agent.process->attached, true);
    bool bound = agent.settings.ticks_only || late_bind_begin();
    enum wire_attach_answer answer = bound ? add_threads(request) : WIRE_ATTACH_NOT_BOUND;
    if (answer == WIRE_ATTACH_DONE && has_events(request))
        begin_events();
    confine_let_go(mask);
    if (answer != WIRE_ATTACH_DONE)
        (void)end();
    else
        late_threads_wake(request);
    return answer;
}

/* As who attaches has found them, where the process itself may not ask. */
static enum wire_attach_answer wake(const struct wire_attach *request) {
    if (!agent_started() || !attached || agent.process->pid == 0)
        return WIRE_ATTACH_NOT;
    return late_threads_wake_named(request) ? WIRE_ATTACH_DONE : WIRE_ATTACH_REST;
}

static enum wire_attach_answer answer_to(struct wire_attach *request) {
    switch (request->what) {
    case WIRE_ATTACH_BEGIN:
        return begin(request);
    case WIRE_ATTACH_WAKE:
        return wake(request);
    default:
        return end();
    }
}

/* All signals are blocked here, but for faults: the mask comes back with the registers. */
static void ring(uint32_t signal) {
    const uint64_t bit = signal_bit((int)signal);
    if (signal == 0)
        return;
    sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, 0, KERNEL_SIGSET_BYTES);
    sys3(SYS_tgkill, sys0(SYS_getpid), sys0(SYS_gettid), signal);
}

/* Where the linker has put them (preload/events/link.h). */
#define PART(section)                                                                              \
    ".hidden __start_" section "\n.hidden __stop_" section "\n"                                    \
    ".long __start_" section " - hcct_attach_parts\n"                                              \
    ".long __stop_" section " - hcct_attach_parts\n"

__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl hcct_attach_parts\n"
        ".type hcct_attach_parts, %function\n"
        "hcct_attach_parts:\n" PART("hcct_blocks")
            PART("hcct_locks") ".size hcct_attach_parts, . - hcct_attach_parts\n"
                               ".popsection\n");

hcct_export void hcct_attach(struct wire_attach *request) {
    enum wire_attach_answer answer = WIRE_ATTACH_OTHER_VERSION;
    if (request->version == WIRE_ATTACH_VERSION)
        answer = answer_to(request);
    atomic_store(&request->answer, answer);
    ring(request->bell);
}

/* ---- what the rest of the agent is to know ---- */

static void start_nothing(void) {}

/* No handler of the application may come between, and close what is being read. */
static void opened(void) {
    uint64_t all = ~signal_synchronous(), mask;
    uint32_t before;
    if (thread_self == NULL || !agent_owns_memory() || !confine_enter(thread_self, &before))
        return;
    sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, KERNEL_SIGSET_BYTES);
    late_bind_search();
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
    confine_leave(thread_self, before);
}

static void closing(void) {
    late_bind_expect();
    if (agent_owns_memory())
        late_bind_await();
}

__thread uint32_t sleep_burst = LATE_UNMET;

const struct agent_hooks agent_hooks = {.start = start_nothing,
                                        HOOKS_OF_ALL,
                                        .late = true,
                                        .adopt = late_threads_adopt,
                                        .meet = late_threads_meet,
                                        .meet_at_event = late_threads_meet_at_event,
                                        .last_tick = late_threads_last_tick,
                                        .after_tick = after_tick,
                                        .opening = late_bind_expect,
                                        .opened = opened,
                                        .closing = closing};
