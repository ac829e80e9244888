/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trigger.c - the CPU timer of each thread, and what a tick of any timer leads to.
 *
 * A thread begins as first.h has it. A program that begins has the plan of its settings at once,
 * and attaches at its first tick. A child of fork has its parent's plan at once, and attaches at
 * its first sample: most children call exec before there is one.
 *
 * Without a session the timer is slow, and each tick is a chance to look for a daemon. In one that
 * was switched off it is slower still, and each tick only asks whether it is on again: nobody but
 * the thread's own timer can tell it.
 *
 * A new rate, burst or state takes effect at the next tick of each thread.
 */
#include "preload/sample/trigger.h"

#include "preload/calls/call_burst.h"
#include "preload/encode/encode.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/unsampled.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/burst.h"
#include "preload/sample/draw.h"
#include "preload/sample/first.h"
#include "preload/sample/sampling.h"
#include "preload/sample/thread_timer.h"
#include "preload/sample/wall.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/sleep.h"

/* CPU time between two searches for a daemon, and between two checks whether the session is on.
 * Where sleep is sampled, threads that sleep are to ask, too, seldom: each is woken for it. */
#define SEARCH_NS 20000000u
#define OFF_NS    100000000u
#define ASKS_NS   (10 * SECOND_NS)

static struct sampling_plan idle_plan(uint64_t coarse_ns) {
    bool asks = wire_clock_sleeps(agent.settings.clock) && !agent_hooks.late;
    return (struct sampling_plan){
        .coarse_ns = coarse_ns, .asks_ns = asks ? ASKS_NS : 0, .idle = true};
}

static struct sampling_plan searching(void) {
    return idle_plan(SEARCH_NS);
}

static struct sampling_plan switched_off(void) {
    return idle_plan(OFF_NS);
}

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* At a tick that takes no samples. */
static void account_unsampled(struct agent_thread *thread, struct wire_session *session) {
    unsampled_account(thread);
    if (session != NULL)
        unsampled_tell(session);
    else
        session_note_unsampled();
}

/* `session`: NULL where there is none, or none to write to. `at_tick`: of the CPU timer. */
static void follow(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, uint64_t since, bool at_tick) {
    struct trigger *t = &thread->trigger;
    if (plan_is_same(&t->plan, plan)) {
        account_unsampled(thread, session);
        return;
    }
    if (plan->idle)
        unsampled_begin(thread, since, session == NULL && session_fell_silent());
    else
        unsampled_end(thread);
    burst_end(thread);
    wall_end(thread);
    t->plan = *plan;
    bool is_own = thread == thread_self; /* what calls it makes is its own to know */
    if (plan->fine_ns != 0)
        burst_plan(thread, session, plan, since);
    else if (plan->wall_ns == 0 || !is_own || !wall_begin(thread, session, plan, since))
        first_begin(thread, plan, since, at_tick);
    if (session != NULL && is_own)
        call_burst_expect(thread);
    else
        call_burst_forget(thread);
    if (plan->wall_ns == 0 && plan->asks_ns != 0 && is_own)
        wall_ask(thread, plan->asks_ns);
}

static void count_missing(void) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    atomic_fetch_add(&session->timers_missing, 1);
    session_leave(thread_self);
}

static struct sampling_plan planned(struct wire_session *session) {
    return session_is_on(session) ? sampling_plan(session) : switched_off();
}

/* `before`: session_epoch(), from before session_enter has found none. */
static struct sampling_plan planned_alone(uint32_t before) {
    const struct sampling_plan *inherited = &agent.process->inherited;
    bool in_vain = session_was_looked_for() && !session_may_come(before);
    return in_vain || inherited->coarse_ns == 0 ? searching() : *inherited;
}

void trigger_expect(void) {
    agent.process->inherited = sampling_plan_asked();
}

void trigger_inherit(const struct agent_thread *parent) {
    const struct sampling_plan *plan = &parent->trigger.plan;
    bool by_time = agent.settings.collector == WIRE_COLLECT_WALKS || call_burst_is_meant();
    bool inherits = !plan->idle && by_time;
    struct sampling_plan *inherited = &agent.process->inherited;
    *inherited = inherits ? *plan : (struct sampling_plan){0};
    /* it is as lost as its parent */
    agent.process->fell_silent =
        atomic_load(&parent->unsampled.from_ns) != 0 && parent->unsampled.lost;
}

/* A context that was used before, by another thread or in the parent of a child of fork, goes on
 * with its draws. The kernel is asked for the time: its clock would be two pages more to have. */
static void begin_draws(struct agent_thread *thread) {
    uint64_t before =
        thread->random != 0 ? draw_word(&thread->random) : ticker_now_by_call(CLOCK_MONOTONIC);
    thread->random = before + (uint64_t)thread->tid * SECOND_NS;
}

void trigger_start(struct agent_thread *thread, uint64_t since) {
    struct trigger *t = &thread->trigger;
    atomic_store(&thread->unsampled.from_ns, 0); /* a child of fork has the parent's */
    *t = (struct trigger){0};
    begin_draws(thread);
    sleep_burst = 0; /* a child of fork has the parent's */
    if (agent.settings.faults != WIRE_METRICS_MAX)
        thread->faults = thread_faults();
    if (thread->no_room)
        return;
    if (!thread_timer_make(thread, TRIGGER_CPU, ticker_cpu_clock(thread->tid))) {
        count_missing();
        return;
    }
    uint32_t before = session_epoch();
    struct wire_session *session = session_enter(thread);
    struct sampling_plan plan = session != NULL ? planned(session) : planned_alone(before);
    follow(thread, session, &plan, since, false);
    if (session != NULL)
        session_leave(thread);
}

bool trigger_adopt(struct agent_thread *thread, uint64_t after_ns) {
    thread->trigger = (struct trigger){0};
    begin_draws(thread);
    thread->faults = UINT64_MAX; /* of another thread: its first sample finds out */
    if (!thread_timer_make(thread, TRIGGER_CPU, ticker_cpu_clock(thread->tid)))
        return false;
    ticker_run(cpu_ticker(thread), after_ns, SEARCH_NS);
    return true;
}

static struct wire_session *attach_at_once(struct agent_thread *thread) {
    return session_attach(false) ? session_enter(thread) : NULL;
}

bool trigger_begin_met(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        session = attach_at_once(thread);
    if (session == NULL)
        return false;
    const struct sampling_plan plan = planned(session);
    follow(thread, session, &plan, UINT64_MAX, false);
    unsampled_tell(session);
    session_leave(thread);
    return true;
}

void trigger_free(struct agent_thread *thread) {
    for (int kind = 0; kind < TRIGGER_TIMERS; kind++)
        ticker_free(&thread->trigger.ticker[kind]);
}

void trigger_stop(struct agent_thread *thread) {
    unsampled_end(thread);
    session_note_unsampled();
    burst_leave(thread);
    trigger_free(thread);
}

/* Its signal is pending before the others' are taken back. */
void trigger_stop_asleep(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    unsampled_end(thread);
    session_note_unsampled();
    t->by_cpu_timer = t->kernel_ticks.on = false;
    ticker_fire(cpu_ticker(thread), 0);
    for (int kind = 0; kind < TRIGGER_TIMERS; kind++)
        if (kind != TRIGGER_CPU)
            ticker_free(&t->ticker[kind]);
}

void trigger_poke(struct agent_thread *thread) {
    ticker_fire(cpu_ticker(thread), SEARCH_NS);
}

bool trigger_poke_later(struct agent_thread *thread, uint64_t ns) {
    if (!thread_timer_make(thread, TRIGGER_WALL, CLOCK_MONOTONIC))
        return false;
    ticker_run(&thread->trigger.ticker[TRIGGER_WALL], ns, 0);
    return true;
}

void trigger_poke_no_more(struct agent_thread *thread) {
    ticker_free(&thread->trigger.ticker[TRIGGER_WALL]);
}

void trigger_put_off(struct agent_thread *thread) {
    ticker_run(cpu_ticker(thread), 1, SEARCH_NS);
}

void trigger_leave(struct agent_thread *thread) {
    calls_burst_end(thread);
    trigger_stop(thread);
    thread->trigger = (struct trigger){0};
    sleep_burst = 0;
}

static void begin_again(struct agent_thread *thread, int signal) {
    struct trigger *t = &thread->trigger;
    const struct sampling_plan plan = t->plan;
    t->plan = (struct sampling_plan){0};
    if (signal != 0 &&
        ticker_make(cpu_ticker(thread), ticker_cpu_clock(thread->tid), signal, thread->tid))
        follow(thread, NULL, &plan, UINT64_MAX, false);
}

void trigger_resume(struct agent_thread *thread) {
    if (thread->trigger.plan.coarse_ns != 0) /* else it has not begun */
        begin_again(thread, signal_number());
}

void trigger_move(struct agent_thread *thread, int signal) {
    if (!cpu_ticker(thread)->made)
        return;
    trigger_free(thread);
    if (!thread->ending)
        begin_again(thread, signal);
}

static bool owns(const struct agent_thread *thread, const void *ticker, enum trigger_kind *kind) {
    const struct ticker *own = thread->trigger.ticker;
    for (int k = 0; k < TRIGGER_TIMERS; k++)
        if (ticker == &own[k]) {
            *kind = (enum trigger_kind)k;
            return true;
        }
    return false;
}

struct agent_thread *trigger_owner(struct agent_thread *likely, const void *ticker,
                                   enum trigger_kind *kind) {
    if (likely != NULL && owns(likely, ticker, kind))
        return likely;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (owns(t, ticker, kind))
            return t;
    return NULL;
}

/* CPU time of the thread that is unsent, at a tick of the CPU timer without a fine one: periods are
 * counted, overruns included, which needs no reading of the clock. */
static void account(struct agent_thread *thread, const struct sampling_plan *plan,
                    uint64_t expiries) {
    if (wall_has_all(thread))
        return;
    uint64_t ns = hcct_unlikely(first_pending(thread)) ? first_tick(thread, plan)
                                                       : expiries * plan->coarse_ns;
    if (hcct_likely(!plan->off_only))
        thread->unsent_ns += ns;
}

static void cpu_tick(struct agent_thread *thread, struct wire_session *session,
                     const struct sampling_plan *plan, uint64_t expiries, ucontext_t *uc) {
    if (hcct_likely(plan->fine_ns != 0)) {
        burst_cpu_tick(thread, session, plan, uc);
        return;
    }
    account(thread, plan, expiries);
    if (plan->wall_ns != 0)
        wall_cpu_tick(thread, session, plan, uc);
    else
        (void)sampling_walk(thread, session, uc);
}

/* `session`: NULL where the process has none yet. */
static void sample(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, enum trigger_kind kind, uint64_t expiries,
                   ucontext_t *uc) {
    switch (kind) {
    case TRIGGER_CPU:
        cpu_tick(thread, session, plan, expiries, uc);
        break;
    case TRIGGER_FINE:
        burst_tick(thread, session, plan, expiries, uc);
        break;
    default:
        wall_tick(thread, session, plan, uc);
        break;
    }
}

/* A tick that finds another plan belongs to the old one, as a sample. */
static void change(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, enum trigger_kind kind, uint64_t expiries,
                   ucontext_t *uc) {
    const struct sampling_plan old = thread->trigger.plan;
    bool walks = !old.idle && agent.settings.collector == WIRE_COLLECT_WALKS;
    if (walks && (kind != TRIGGER_WALL || wall_has_all(thread)))
        sample(thread, session, &old, kind, expiries, uc);
    follow(thread, session, plan, UINT64_MAX, kind == TRIGGER_CPU);
}

static void tick(struct agent_thread *thread, struct wire_session *session, enum trigger_kind kind,
                 uint64_t expiries, ucontext_t *uc) {
    struct sampling_plan plan = sampling_plan(session);
    if (!plan_is_same(&thread->trigger.plan, &plan)) {
        change(thread, session, &plan, kind, expiries, uc);
        return;
    }
    if (agent.settings.collector == WIRE_COLLECT_CALLS) {
        calls_tick(thread, session, kind, uc);
        return;
    }
    if (agent.settings.collector != WIRE_COLLECT_WALKS)
        return;
    sample(thread, session, &plan, kind, expiries, uc);
    if (thread->stream->slot != NULL)
        session_count(thread->stream->slot, WIRE_EXPIRIES, expiries);
}

void trigger_before_sleep(void) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (hcct_unlikely(agent_hooks.meet != NULL && (thread == NULL || !thread_is_met(thread)))) {
        (void)agent_hooks.meet();
        return;
    }
    if (thread == NULL || !confine_enter(thread, &before))
        return;
    wall_awake(thread);
    confine_leave(thread, before);
}

void trigger_after_watched(const struct sleep_call *call) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (thread == NULL || !confine_enter(thread, &before))
        return;
    wall_over(thread, (uintptr_t)call);
    confine_leave(thread, before);
}

/* What the handler costs, and its signal's way there, is measured at one tick in so many: the
 * thread's CPU clock is a system call, and any other clock would also count the time of threads
 * that had the processor meanwhile. Under a budget it is measured at each.
 */
#define COST_EVERY 16u

static void measure(struct agent_thread *thread, uint64_t began, uint32_t every) {
    uint64_t ns = ticker_now(CLOCK_THREAD_CPUTIME_ID) - began;
    if (thread->stream->slot != NULL)
        session_count(thread->stream->slot, WIRE_HANDLER_NS, every * (ns + thread->delivery_ns));
    sampling_measured(thread, ns);
}

/* While another thread has the session for itself: timers go on, samples are lost. An event's walk
 * takes what is unsent, and the points of sleep stay due. */
static void tick_held(struct agent_thread *thread, const struct sampling_plan *plan,
                      enum trigger_kind kind, uint64_t expiries, ucontext_t *uc) {
    if (plan->wall_ns == 0)
        sample(thread, NULL, plan, kind, expiries, uc);
    else if (wall_has_all(thread))
        unsampled_add(wall_lose(thread, uc), true);
    else if (!plan->off_only && kind == TRIGGER_CPU)
        unsampled_add(expiries * plan->coarse_ns, true);
}

/* What has become due since the thread's last sample, and finds the session gone. */
static void lose_due(struct agent_thread *thread, const struct sampling_plan *plan,
                     enum trigger_kind kind, uint64_t expiries, ucontext_t *uc) {
    if (agent.settings.collector != WIRE_COLLECT_WALKS)
        return;
    if (plan->wall_ns != 0) {
        if (kind == TRIGGER_CPU)
            account(thread, plan, expiries);
        thread->unsent_ns += wall_due(thread);
    } else {
        sample(thread, NULL, plan, kind, expiries, uc);
    }
    unsampled_add(thread->unsent_ns, session_fell_silent());
    thread->unsent_ns = 0;
}

/* In a child of fork that has no session yet: its first sample, or burst of calls, looks for the
 * daemon. False: this is not yet the time. */
static bool look_as_child(struct agent_thread *thread, const struct sampling_plan *plan,
                          enum trigger_kind kind, uint64_t expiries, ucontext_t *uc) {
    if (agent.settings.collector == WIRE_COLLECT_WALKS)
        sample(thread, NULL, plan, kind, expiries, uc);
    else if (call_burst_is_due(thread))
        (void)session_attach(true);
    return session_was_looked_for();
}

/* Looks for a daemon, where that is due. False: this is not yet the time. */
static bool look(struct agent_thread *thread, const struct sampling_plan *plan,
                 enum trigger_kind kind, uint64_t expiries, ucontext_t *uc) {
    if (!plan->idle && !session_was_looked_for())
        return look_as_child(thread, plan, kind, expiries, uc);
    if (!plan->idle && session_was_lost())
        lose_due(thread, plan, kind, expiries, uc);
    (void)session_attach(false);
    return true;
}

/* Where there is a session now. */
static void change_to(struct agent_thread *thread, struct wire_session *session,
                      enum trigger_kind kind) {
    const struct sampling_plan plan = planned(session);
    follow(thread, session, &plan, UINT64_MAX, kind == TRIGGER_CPU);
}

/* At a tick without a session: a child is seen as its parent was. Where the daemon was looked for
 * in vain, or has gone, ticks do nothing but look for one. A thread that sleeps has no ticks then:
 * one that has met another that looks for the daemon keeps its own. */
static void tick_alone(struct agent_thread *thread, enum trigger_kind kind, uint64_t expiries,
                       ucontext_t *uc) {
    const struct sampling_plan plan = thread->trigger.plan;
    uint32_t before = session_epoch();
    bool found = false;
    if (session_is_held() && agent.settings.collector == WIRE_COLLECT_CALLS)
        return; /* the next tick finds the session again, or none */
    calls_found(thread, NULL, uc);
    if (!plan.idle && session_is_held() && agent.settings.collector == WIRE_COLLECT_WALKS) {
        tick_held(thread, &plan, kind, expiries, uc);
        return;
    }
    if (!look(thread, &plan, kind, expiries, uc))
        return;
    struct wire_session *session = session_enter(thread);
    if (session != NULL) {
        if (!plan.idle && agent.settings.collector == WIRE_COLLECT_CALLS)
            calls_tick(thread, session, kind, uc);
        if (plan.asks_ns != 0) /* its next tick is far away */
            change_to(thread, session, kind);
        session_leave(thread);
        found = !plan.idle || plan.asks_ns != 0;
    }
    thread->unsent_ns = 0;
    if (found || (!plan.idle && session == NULL && session_may_come(before)))
        return;
    const struct sampling_plan search = searching();
    follow(thread, NULL, &search, UINT64_MAX, false);
    encode_rest();
}

void trigger_attach_at_fork(struct agent_thread *thread) {
    if (!thread->trigger.plan.idle || !session_was_lost() ||
        agent.settings.collector != WIRE_COLLECT_WALKS || !agent_owns_memory())
        return;
    struct wire_session *session = attach_at_once(thread);
    if (session == NULL)
        return;
    const struct sampling_plan plan = planned(session);
    follow(thread, session, &plan, UINT64_MAX, false);
    session_leave(thread);
}

/* ---- a thread that is stepped ---- */

/* Timers are set to `ns`; 0: as they were. */
static void slow_down(struct trigger *trigger, uint64_t ns) {
    for (int k = 0; k < TRIGGER_TIMERS; k++) {
        struct ticker *ticker = &trigger->ticker[k];
        bool is_slow = ticker->period_ns == trigger->crawl.slow_ns;
        if (ticker->period_ns == 0 || (ns == 0 && !is_slow))
            continue;
        if (!is_slow)
            trigger->usual_ns[k] = ticker->period_ns;
        uint64_t period_ns = ns != 0 ? ns : trigger->usual_ns[k];
        ticker_run(ticker, period_ns, period_ns);
    }
    trigger->crawl.slow_ns = ns;
}

/* `ns`: what a tick has taken. */
static void pace(struct trigger *trigger, uint64_t ns) {
    uint64_t slow_ns = crawl_learn(&trigger->crawl, ns);
    if (slow_ns != 0 || trigger->crawl.slow_ns != 0)
        slow_down(trigger, slow_ns);
}

static void tick_in_session(struct agent_thread *thread, struct wire_session *session,
                            enum trigger_kind kind, uint64_t expiries, ucontext_t *uc) {
    const struct sampling_plan off = switched_off();
    if (session_is_on(session))
        tick(thread, session, kind, expiries, uc);
    else
        change(thread, session, &off, kind, expiries, uc);
}

void trigger_tick(struct agent_thread *thread, enum trigger_kind kind, uint64_t expiries,
                  ucontext_t *uc) {
    struct trigger *trigger = &thread->trigger;
    if (thread->ending)
        return;
    uint32_t every = agent.settings.budget_ppm != 0 ? 1 : COST_EVERY;
    bool one_of_many = trigger->ticks++ % COST_EVERY == COST_EVERY / 2;
    bool measured = one_of_many || every == 1, paced = one_of_many || crawl_asks(&trigger->crawl);
    uint64_t began = measured || paced ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    thread->delivery_ns = 0;
    calls_tick_begins(thread);
    struct wire_session *session = session_enter(thread);
    if (session == NULL && session_is_awaited())
        session = attach_at_once(thread);
    if (session == NULL)
        tick_alone(thread, kind, expiries, uc);
    else
        tick_in_session(thread, session, kind, expiries, uc);
    if (session != NULL && measured)
        measure(thread, began, every);
    calls_tick_ends(thread);
    if (session != NULL)
        session_leave(thread);
    if (paced)
        pace(trigger, ticker_now(CLOCK_THREAD_CPUTIME_ID) - began);
}
