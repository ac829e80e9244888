/*
 * trigger.c - the CPU timer of each thread, and what a tick of any timer leads to.
 *
 * The first tick of a thread stands for one whole interval: it comes after a time that is uniform
 * in it, so that a thread shorter than an interval is seen with a probability in proportion to its
 * length, and totals are unbiased.
 *
 * Without a session the timer is slow, and each tick is a chance to look for a daemon. In one that
 * was switched off it is slower still, and each tick only asks whether it is on again: nobody but
 * the thread's own timer can tell it.
 *
 * A new rate, burst or state takes effect at the next tick of each thread.
 */
#include "preload/trigger.h"

#include "preload/agent.h"
#include "preload/burst.h"
#include "preload/calls.h"
#include "preload/sampling.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/sys.h"
#include "preload/walk.h"
#include "preload/wall.h"
#include "preload/wrap_sleep.h"

/* CPU time between two looks for a daemon, and between two looks whether the session is on. */
static const struct sampling_plan looking = {.coarse_ns = 20000000u, .idle = true},
                                  switched_off = {.coarse_ns = 100000000u, .idle = true};

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* Time to the first expiry. The tick itself is already spread over one tick's length. */
static uint64_t first_expiry(const struct agent_thread *thread, uint64_t period) {
    uint64_t tick = ticker_resolution(), spread = period > tick ? period - tick : 0;
    uint64_t seed = ticker_now(CLOCK_MONOTONIC) + (uint64_t)thread->tid * 0x9e3779b97f4a7c15ull;
    return spread == 0 ? 1 : 1 + sampling_scatter(seed) % spread;
}

static void follow(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct trigger *t = &thread->trigger;
    if (plan_is_same(&t->plan, plan))
        return;
    burst_end(thread);
    if (plan->idle)
        wall_forget(thread);
    else
        wall_end(thread);
    task_clock_close(&t->task_clock);
    t->task_clock_ns = 0;
    if (plan->fine_ns != 0)
        burst_plan(thread, plan);
    else
        ticker_run(cpu_ticker(thread), first_expiry(thread, plan->coarse_ns), plan->coarse_ns);
    t->plan = *plan;
    t->first_tick = true;
}

static void count_missing(void) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    atomic_fetch_add(&session->timers_missing, 1);
    session_leave(thread_self);
}

static bool is_on(struct wire_session *session) {
    return (atomic_load_explicit(&session->control, memory_order_relaxed) & WIRE_CONTROL_ON) != 0;
}

static struct sampling_plan planned(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    struct sampling_plan plan = looking;
    if (session != NULL) {
        plan = is_on(session) ? sampling_plan(session) : switched_off;
        session_leave(thread);
    }
    return plan;
}

void trigger_start(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    *t = (struct trigger){0};
    sleep_burst = 0; /* a child of fork has the parent's */
    if (signal_number() == 0 || !ticker_make(cpu_ticker(thread), ticker_cpu_clock(thread->tid),
                                             signal_number(), thread->tid)) {
        count_missing();
        return;
    }
    struct sampling_plan plan = planned(thread);
    follow(thread, &plan);
    if (plan.wall_ns != 0) {
        wall_running(thread, &plan);
        wall_begin(thread, &plan);
    }
}

void trigger_stop(struct agent_thread *thread) {
    burst_end(thread);
    task_clock_close(&thread->trigger.task_clock);
    for (int kind = 0; kind < TRIGGER_TIMERS; kind++)
        ticker_free(&thread->trigger.ticker[kind]);
}

void trigger_forget(struct agent_thread *thread) {
    task_clock_close(&thread->trigger.task_clock); /* descriptors are inherited */
    thread->trigger = (struct trigger){0};
}

void trigger_move(struct agent_thread *thread, int signal) {
    struct trigger *t = &thread->trigger;
    const struct sampling_plan plan = t->plan;
    if (!cpu_ticker(thread)->made)
        return;
    task_clock_close(&t->task_clock);
    t->task_clock_ns = 0;
    for (int kind = 0; kind < TRIGGER_TIMERS; kind++)
        ticker_free(&t->ticker[kind]);
    t->plan = (struct sampling_plan){0};
    if (signal != 0 &&
        ticker_make(cpu_ticker(thread), ticker_cpu_clock(thread->tid), signal, thread->tid))
        follow(thread, &plan);
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

/* CPU time that the thread owes, at a tick of the CPU timer without a fine one: periods are
 * counted, overruns included, which needs no look at the clock. */
static void account(struct agent_thread *thread, const struct sampling_plan *plan,
                    uint64_t expiries) {
    struct trigger *t = &thread->trigger;
    if (t->first_tick) {
        uint64_t tick = ticker_resolution();
        thread->owed_ns += plan->coarse_ns > tick ? plan->coarse_ns : tick;
        t->cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
        t->first_tick = false;
    } else {
        thread->owed_ns += expiries * plan->coarse_ns;
    }
}

/* A tick may meet the thread after it has announced that it goes to sleep, and before it does: what
 * has been stopped stays so. The last walk tells. */
static void wall_begin_unless_asleep(struct agent_thread *thread,
                                     const struct sampling_plan *plan) {
    if (plan->wall_ns != 0 && !burst_about_to_sleep(thread))
        wall_begin(thread, plan);
}

static void cpu_tick(struct agent_thread *thread, struct wire_session *session,
                     const struct sampling_plan *plan, uint64_t expiries, const ucontext_t *uc) {
    if (plan->fine_ns != 0) {
        burst_begin(thread, session, plan, uc);
        return;
    }
    account(thread, plan, expiries);
    if (plan->wall_ns != 0)
        wall_running(thread, plan);
    sampling_walk(thread, session, 1, uc);
    wall_begin_unless_asleep(thread, plan);
}

/* A tick that finds another plan belongs to the old one: its time is owed, to the next walk. */
static void change(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, enum trigger_kind kind, uint64_t expiries,
                   const ucontext_t *uc) {
    const struct sampling_plan old = thread->trigger.plan;
    if (!old.idle && kind == TRIGGER_CPU && old.fine_ns == 0)
        account(thread, &old, expiries);
    follow(thread, plan);
    if (plan->wall_ns == 0)
        return;
    wall_running(thread, plan);
    (void)walk_whole(thread, session, uc);
    wall_begin_unless_asleep(thread, plan);
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
    switch (kind) {
    case TRIGGER_CPU:
        cpu_tick(thread, session, &plan, expiries, uc);
        break;
    case TRIGGER_FINE:
        burst_tick(thread, session, &plan, expiries, uc);
        break;
    case TRIGGER_WALL:
        wall_tick(thread, session, &plan, uc);
        break;
    default:
        burst_task_clock_tick(thread, session, uc);
        break;
    }
    if (thread->slot != NULL)
        session_count(thread->slot, WIRE_EXPIRIES, expiries);
}

void trigger_before_sleep(void) {
    struct agent_thread *thread = thread_self;
    if (thread == NULL)
        return;
    if (agent.settings.collector == WIRE_COLLECT_CALLS)
        calls_burst_end(thread);
    wall_end(thread);
}

/* What the handler costs is measured at one tick in so many: the thread's CPU clock is a system
 * call, and any other clock would also count the time of threads that had the processor meanwhile.
 */
#define COST_EVERY 16u

static void measure(struct agent_thread *thread, uint64_t began) {
    uint64_t ns = ticker_now(CLOCK_THREAD_CPUTIME_ID) - began;
    if (thread->slot != NULL)
        session_count(thread->slot, WIRE_HANDLER_NS, COST_EVERY * ns);
    sampling_measured(thread, ns);
}

void trigger_tick(struct agent_thread *thread, enum trigger_kind kind, uint64_t expiries,
                  ucontext_t *uc) {
    if (thread->ending)
        return;
    struct wire_session *session = session_enter(thread);
    if (session == NULL) {
        follow(thread, &looking);
        session_attach(false);
        return;
    }
    bool measured = thread->trigger.ticks++ % COST_EVERY == COST_EVERY / 2;
    uint64_t began = measured ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    if (is_on(session))
        tick(thread, session, kind, expiries, uc);
    else
        change(thread, session, &switched_off, kind, expiries, uc);
    if (measured)
        measure(thread, began);
    session_leave(thread);
}
