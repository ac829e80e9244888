/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_burst.c - when a burst of followed calls begins and ends, and what it has seen.
 *
 * Two numbers tell which part of a thread was seen: its own CPU time within bursts, and between
 * them. So what is seen of a function is in proportion to its calls however much its reports cost.
 */
#include "preload/calls/call_burst.h"

#include <signal.h>

#include "preload/calls/governor.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/burst.h"
#include "preload/sample/thread_timer.h"
#include "preload/wrap/sleep.h"

#define INNER_FRAMES 4    /* that are searched for a call that can sleep */
#define NEAR_END     8    /* a burst may be shorter by one part in so many */
#define LEAST_PART   64   /* the program has had one part in so many, whatever is measured */
#define TICK_NS      4000 /* of the kernel, to bring a signal and to go back */
#define HARDLY_RUNS  8    /* a thread that has had so small a part of the time was asleep */

#define EARLY_NS       2000 /* a tick that comes so early is in time */
#define HARDLY_WATCHED 64   /* for a thread that runs so small a part of the time ticks are dear */
#define NEVER_NS       (3600 * SECOND_NS)

static struct ticker *fine(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* ---- the program's own time ---- */

static uint64_t position(const struct calls *c) {
    return c->at != NULL ? (uint64_t)(c->at - c->zero) : c->head;
}

static void price_from_here(struct calls *c) {
    c->price.words = position(c);
    c->price.ticks = price_ticks();
    c->price.time_ns = ticker_now(CLOCK_MONOTONIC);
    c->price.rare_ns = 0;
    c->price.mask = price_mask(true);
}

/* What reports take where nothing is waited for. */
static struct price_usual usual;

void call_burst_start(void) {
    uint64_t all = UINT64_MAX, before = 0;
    if (!call_burst_is_meant() ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    usual = redirect_is_meant() ? redirect_price() : calls_price();
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
}

/* So many ticks, PRICE_ONE each, at this part's pace. */
static uint64_t ns_of(const struct price *price, uint64_t ticks) {
    uint64_t passed = price_ticks() - price->ticks;
    uint64_t ns = ticker_now(CLOCK_MONOTONIC) - price->time_ns;
    return passed > 0 ? (uint64_t)((unsigned __int128)ticks * ns / passed / PRICE_ONE) : 0;
}

/* Of `used` CPU time of this part of the burst, what the program had itself: without its reports,
 * but at least what its calls take, and a little in any case, or the burst might never end. */
static uint64_t programs_ns(const struct calls *c, uint64_t used) {
    const struct price *price = &c->price;
    uint64_t words = position(c) - price->words;
    uint64_t waits = price->mean > usual.measured ? price->mean - usual.measured : 0;
    uint64_t own = ns_of(price, words * (usual.report + waits)) + price->rare_ns;
    uint64_t least = ns_of(price, words * usual.bare) + used / LEAST_PART;
    uint64_t ns = own + least < used ? used - own : least;
    return ns < used ? ns : used;
}

/* ---- what was seen ---- */

/* A thread has its slot when its first burst begins. */
static void count_unseen(struct calls *c, uint64_t ns) {
    c->own_ns += ns;
    c->untold_ns += ns;
    if (c->slot == NULL || c->untold_ns == 0)
        return;
    session_count(c->slot, WIRE_UNSEEN_NS, c->untold_ns);
    c->untold_ns = 0;
}

/* Under a budget, what profiling took. */
static void count_cost(struct calls *c, uint64_t ns) {
    if (agent.settings.budget_ppm == 0)
        return;
    c->cost_ns += ns;
    if (c->slot != NULL)
        session_count(c->slot, WIRE_COST_NS, ns);
}

void calls_tick_took(struct agent_thread *thread, uint64_t ns) {
    if (thread->calls != NULL && thread->calls->alive)
        count_cost(thread->calls, ns + TICK_NS);
}

uint64_t call_burst_cost_begin(void) {
    return agent.settings.budget_ppm != 0 ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
}

/* That of a tick is counted with all of it. */
void call_burst_cost_once(struct agent_thread *thread, uint64_t began_ns, bool in_tick) {
    struct calls *c = thread->calls;
    if (began_ns == 0 || c == NULL || !c->alive)
        return;
    uint64_t ns = ticker_now(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    c->once_ns += ns;
    if (!in_tick)
        count_cost(c, ns);
}

/* The part of the burst up to `now`. What comes after its length, without any report, was not
 * seen: a burst that waited for one would show too few. */
static void count_seen(struct calls *c, uint64_t now) {
    uint64_t used = now > c->from_ns ? now - c->from_ns : 0, ns = programs_ns(c, used);
    uint64_t left = c->left_ns, late = !c->armed && ns > left ? ns - left : 0;
    c->left_ns = ns < left ? left - ns : 0;
    c->own_ns += ns - late;
    count_unseen(c, late);
    if (c->slot == NULL)
        return;
    session_count(c->slot, WIRE_SEEN_NS, ns - late);
    session_count(c->slot, WIRE_STANDS_NS, c->period.times * (ns - late));
    session_count(c->slot, WIRE_OWN_NS, used - ns);
    count_cost(c, used - ns);
}

void call_burst_account(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (c->in_burst) {
        count_seen(c, now);
        price_from_here(c);
    } else {
        count_unseen(c, now > c->from_ns ? now - c->from_ns : 0);
    }
    c->from_ns = now;
}

/* ---- beginnings ---- */

/* The timer that ends the burst; or it waits for the next report. */
static void arm(struct agent_thread *thread, uint64_t rest) {
    thread->calls->armed = true;
    ticker_halt(cpu_ticker(thread));
    ticker_run(fine(thread), rest, agent.settings.burst_length_ns);
}

static void run(struct agent_thread *thread, bool in_sleeper) {
    struct calls *c = thread->calls;
    call_burst_account(thread);
    c->in_burst = true;
    c->armed = false;
    c->watches = false;
    c->unsaid = true;
    c->left_ns = agent.settings.burst_length_ns;
    price_from_here(c);
    sleep_burst |= SLEEP_MASKED;
    if (in_sleeper)
        ticker_halt(fine(thread));
    else
        arm(thread, c->left_ns);
    session_count(c->slot, WIRE_BURSTS, 1);
    session_count(c->slot, WIRE_PAIRS, c->period.times * (c->period.times - 1));
}

/* The fine timer waits no longer. */
static void stop_watching(struct agent_thread *thread) {
    if (!thread->calls->watches)
        return;
    thread->calls->watches = false;
    ticker_halt(fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
}

/* By real time, which is never behind the thread's clock: a tick that comes early sets the timer
 * again. The CPU timer finds what this one misses. */
static void watch(struct agent_thread *thread, uint64_t rest) {
    struct calls *c = thread->calls;
    c->watches = true;
    c->watched_ns = c->own_ns;
    ticker_run(fine(thread), rest, NEVER_NS);
    ticker_run(cpu_ticker(thread), rest + ticker_resolution(), thread->trigger.plan.coarse_ns);
    sleep_burst |= SLEEP_MASKED;
}

/* The kernel serves the CPU timer at its tick, when the thread may have ended or gone to sleep. So
 * it waits until a burst is near, and the fine timer from there on; but not for a thread that
 * hardly runs, to which each of its ticks would be a price for nothing. */
static void wait_for_burst(struct agent_thread *thread, bool hardly_runs) {
    struct calls *c = thread->calls;
    uint64_t rest = c->due_ns > c->own_ns ? c->due_ns - c->own_ns : 1;
    uint64_t near = 2 * ticker_resolution();
    if (!hardly_runs && rest <= near && thread == thread_self && SLEEP_IS_WRAPPED &&
        burst_get_timer(thread, NULL)) {
        watch(thread, rest);
        return;
    }
    stop_watching(thread);
    ticker_run(cpu_ticker(thread), !hardly_runs && rest > near ? rest - near : rest,
               thread->trigger.plan.coarse_ns);
}

/* The process's sums learn what this thread has had and spent since the last time. */
static struct governor_sums add_up(struct calls *c) {
    struct agent_spent *spent = &agent.process->spent;
    uint64_t own = c->own_ns - c->own_summed_ns, cost = c->cost_ns - c->cost_summed_ns;
    c->own_summed_ns = c->own_ns;
    c->cost_summed_ns = c->cost_ns;
    return (struct governor_sums){
        .program_ns = atomic_fetch_add(&spent->program_ns, own) + own,
        .cost_ns = atomic_fetch_add(&spent->cost_ns, cost) + cost,
        .reading_ns = c->session != NULL ? atomic_load(&c->session->reading_ns) : 0,
    };
}

/* The mean of the period to come. */
static uint64_t mean_times(struct calls *c) {
    const struct agent_settings *set = &agent.settings;
    uint64_t least = period_times(set->burst_length_ns, set->burst_period_ns);
    if (set->budget_ppm == 0)
        return least;
    uint64_t cost = c->cost_ns - c->cost_summed_ns;
    if (cost > c->once_ns)
        c->price_ns = governor_price(c->price_ns, cost - c->once_ns);
    c->once_ns = 0;
    const struct governor_sums sums = add_up(c);
    return governor_times(set->budget_ppm, set->burst_length_ns, least, c->price_ns, &sums);
}

/* The timer is set to the burst of the next period. */
static void wait_for_next(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    uint64_t length = agent.settings.burst_length_ns, mean = mean_times(c);
    c->due_ns = period_next(&c->period, length, mean, c->own_ns, &thread->random);
    wait_for_burst(thread, false);
}

bool call_burst_is_due(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive)
        return false;
    call_burst_account(thread);
    if (c->own_ns + EARLY_NS >= c->due_ns)
        return true;
    bool hardly_runs =
        c->watches && c->own_ns - c->watched_ns < (c->due_ns - c->watched_ns) / HARDLY_WATCHED;
    wait_for_burst(thread, hardly_runs);
    return false;
}

void call_burst_forget(struct agent_thread *thread) {
    if (thread->calls != NULL && thread->calls->alive && !thread->calls->in_burst)
        stop_watching(thread);
}

void call_burst_expect(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (!call_burst_is_meant() || c == NULL || !c->alive || c->in_burst ||
        thread->trigger.plan.idle || !cpu_ticker(thread)->made)
        return;
    call_burst_account(thread);
    period_begin(&c->period, c->own_ns);
    wait_for_next(thread);
}

/* In a call that can sleep, or about to enter it. */
static bool in_sleeper(const struct agent_thread *thread) {
    const struct memo *memo = &thread->memo;
    for (uint32_t i = 1; i <= INNER_FRAMES && i <= memo->depth; i++) {
        uint64_t routine = memo->frame[memo->depth - i].frame.routine;
        if (modules_is_agent(routine) || sleep_is_sleeper(routine))
            return true;
    }
    return memo->depth == 0; /* not known */
}

void call_burst_begin(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc) {
    if (thread->calls != NULL && thread->calls->in_burst)
        call_burst_tick(thread); /* nothing was reported since */
    else if (SLEEP_IS_WRAPPED && burst_get_timer(thread, session) &&
             calls_begin_here(thread, session, uc))
        run(thread, in_sleeper(thread));
}

void call_burst_first(struct agent_thread *thread) {
    uint64_t began_ns = call_burst_cost_begin();
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    bool timer = SLEEP_IS_WRAPPED && burst_get_timer(thread, session);
    bool ready = redirect_read_sites(thread, session, 0);
    session_leave(thread);
    if (timer && ready)
        calls_follow_here(thread);
    call_burst_cost_once(thread, began_ns, false);
    if (calls_self == NULL)
        return;
    struct calls *c = thread->calls;
    period_first(&c->period, agent.settings.burst_length_ns, c->own_ns);
    run(thread, false);
}

/* ---- ends ---- */

static bool is_over(const struct calls *c) {
    return c->left_ns <= agent.settings.burst_length_ns / NEAR_END;
}

void calls_burst_end(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->in_burst)
        return;
    if (thread == thread_self) {
        calls_self = NULL;
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
    }
    if (!confine_is_quiet())
        call_burst_account(thread);
    c->in_burst = false;
    c->price.mask = price_mask(false);
    redirect_leave(c);
    if (confine_is_quiet())
        return; /* its timers have gone */
    ticker_halt(fine(thread));
    if (c->busy == 0)
        calls_learn(c);
    wait_for_next(thread);
}

/* How long the timer has to run until the program has had `rest`, if it goes on having `ns` of
 * `used`. It may have much more of the time: what is called for the first time is dear. So it is
 * checked again in the length of a burst at most. */
static uint64_t time_of(uint64_t rest, uint64_t ns, uint64_t used) {
    uint64_t time = ns > 0 ? (uint64_t)((unsigned __int128)rest * used / ns) : rest;
    uint64_t most = agent.settings.burst_length_ns;
    return time < most ? time : most;
}

/* The thread has slept since the timer was set: it waits for the next report. */
static bool has_slept(const struct calls *c, uint64_t used) {
    uint64_t passed = ticker_now(CLOCK_MONOTONIC) - c->price.time_ns;
    return used < passed / HARDLY_RUNS;
}

/* The length is CPU time: a thread that had to wait for a processor goes on. Each part of it is
 * counted by itself, so that the price of its reports is the latest. */
void call_burst_tick(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (!c->in_burst)
        return; /* it was under way when the burst ended */
    uint64_t used = ticker_now(CLOCK_THREAD_CPUTIME_ID) - c->from_ns;
    bool slept = has_slept(c, used);
    uint64_t ns = programs_ns(c, used);
    call_burst_account(thread);
    if (calls_self == NULL || is_over(c)) {
        calls_burst_end(thread);
    } else if (slept) {
        c->armed = false;
        ticker_halt(fine(thread));
        ticker_run(cpu_ticker(thread), c->left_ns, thread->trigger.plan.coarse_ns);
        c->limit = NULL;
    } else {
        arm(thread, time_of(c->left_ns, ns, used));
    }
}

/* No tick comes meanwhile. */
static void go_on(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    call_burst_account(thread);
    if (is_over(c))
        calls_burst_end(thread);
    else
        arm(thread, c->left_ns);
}

bool call_burst_go_on(struct calls *c) {
    uint64_t all = UINT64_MAX, before = 0;
    if (!c->in_burst || c->armed || confine_is_quiet() ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, KERNEL_SIGSET_BYTES) != 0)
        return true;
    if (c->in_burst && !c->armed)
        go_on(c->thread);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
    return c->in_burst;
}
