/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_wait.c - from the end of a burst of calls to the beginning of the next one: when that is
 * due, and which timer waits for it.
 */
#include "preload/calls/burst_parts.h"
#include "preload/calls/governor.h"
#include "preload/life/session.h"
#include "preload/sample/burst.h"
#include "preload/wrap/sleep.h"

#define EARLY_NS       2000 /* a tick that comes so early is in time */
#define HARDLY_WATCHED 64   /* for a thread that runs so small a part of the time ticks are dear */
#define NEVER_NS       (3600 * SECOND_NS)

/* The fine timer waits no longer. */
static void stop_watching(struct agent_thread *thread) {
    if (!thread->calls->watches)
        return;
    thread->calls->watches = false;
    ticker_halt(burst_fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
}

/* By real time, which is never behind the thread's clock: a tick that comes early sets the timer
 * again. The CPU timer finds what this one misses. */
static void watch(struct agent_thread *thread, uint64_t rest) {
    struct calls *c = thread->calls;
    c->watches = true;
    c->watched_ns = c->own_ns;
    ticker_run(burst_fine(thread), rest, NEVER_NS);
    ticker_run(burst_cpu(thread), rest + ticker_resolution(), thread->trigger.plan.coarse_ns);
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
    ticker_run(burst_cpu(thread), !hardly_runs && rest > near ? rest - near : rest,
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
void call_burst_wait_for_next(struct agent_thread *thread) {
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
        thread->trigger.plan.idle || !burst_cpu(thread)->made)
        return;
    call_burst_account(thread);
    period_begin(&c->period, c->own_ns);
    call_burst_wait_for_next(thread);
}
