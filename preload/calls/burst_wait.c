/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_wait.c - from the end of a burst of calls to the beginning of the next one: when that is
 * due, and which timer waits for it.
 */
#include "preload/calls/burst_parts.h"
#include "preload/calls/governor.h"
#include "preload/life/session.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/thread_timer.h"
#include "preload/wrap/sleep.h"

#define WARM_NS     400000 /* so long before a burst its texts are in place ... */
#define PACE_NS     250000 /* ... and the thread's pace is taken */
#define HARDLY_RUNS 64 /* for a thread that runs so small a part of the time ticks are dear ... */
#define EARLY_TICKS 4  /* ... where there have been so many in vain */
#define PATIENCE    4  /* the CPU timer may take so many times longer than it should */
#define SOON_PART   8  /* what can't begin is tried again after so small a part of its length ... */
#define SOON_TIMES  16 /* ... so often, and then after all of it */
#define PATIENCE_NS (60 * SECOND_NS)

/* The fine timer waits no longer. */
static void stop_watching(struct agent_thread *thread) {
    if (!thread->calls->watches)
        return;
    thread->calls->watches = false;
    ticker_halt(burst_fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
}

/* How long the fine timer waits for a burst that is `rest` away. 0: for so long as it is away; else
 * the CPU timer waits, of which this one sees that it is served at all. */
static uint64_t patience(const struct calls *c, uint64_t rest) {
    uint64_t passed = ticker_now(CLOCK_MONOTONIC) - c->waits_from_ns;
    uint64_t ran = c->own_ns - c->waits_own_ns;
    if (c->early_ticks < EARLY_TICKS || c->patient || ran >= passed / HARDLY_RUNS)
        return 0;
    uint64_t times = ran > 0 ? PATIENCE * (passed / ran) : PATIENCE_NS;
    return times < PATIENCE_NS / rest ? times * rest : PATIENCE_NS;
}

/* By real time, which is never behind the thread's clock: a tick that comes early sets the timer
 * again, and the CPU timer finds what this one misses. The kernel serves that at its own tick, and
 * where the thread has ended by then, or gone to sleep, at none: on a busy machine bursts of a
 * thread of naps began some 20 ms of its time late. So it waits for a thread alone that hardly
 * runs, to which each early tick would be a price for nothing. */
static void watch(struct agent_thread *thread, uint64_t rest) {
    struct calls *c = thread->calls;
    uint64_t patient_ns = patience(c, rest), length = agent.settings.burst_length_ns;
    c->patient = patient_ns != 0;
    c->watches = true;
    if (c->patient)
        ticker_run(burst_fine(thread), patient_ns, patient_ns);
    else
        ticker_run(burst_fine(thread), rest, length); /* a tick may find the session held */
    ticker_run(burst_cpu(thread), c->patient ? rest : rest + ticker_resolution(),
               thread->trigger.plan.coarse_ns);
    sleep_burst |= SLEEP_MASKED;
}

static void wait_for_burst(struct agent_thread *thread, uint64_t rest) {
    if (thread == thread_self && thread_timer_get(thread, TRIGGER_FINE, NULL)) {
        watch(thread, rest);
    } else {
        stop_watching(thread);
        ticker_run(burst_cpu(thread), rest, thread->trigger.plan.coarse_ns);
    }
}

/* So long before the burst is due. A tick may take less than it should, and seem to come so much
 * too early: if the timer were set again, the next one might, too. */
static bool is_time(const struct calls *c, uint64_t before) {
    return c->own_ns + before + call_burst_tick_takes() >= c->due_ns;
}

/* Code that is redirected is in no cache at first: what a burst saw of its first tenth of a
 * millisecond was too little. So texts change places before it begins, and its calls go by stubs
 * that report nothing. */
static bool is_to_warm(const struct calls *c) {
    return c->redirect != NULL && !c->warms && !is_time(c, 0);
}

static void warm(struct calls *c) {
    c->warms = redirect_use(c);
    if (!c->warms)
        redirect_leave(c);
}

/* Not before that code is in the caches. */
static bool is_to_take_pace(const struct calls *c) {
    return c->warms && !c->pace.taken;
}

void call_burst_cool(struct calls *c) {
    if (!c->warms)
        return;
    c->warms = false;
    c->pace.taken = false;
    redirect_leave(c);
}

/* Up to the burst, or to where its texts change places, or the pace is taken. */
static uint64_t rest_of(const struct calls *c) {
    uint64_t rest = c->due_ns > c->own_ns ? c->due_ns - c->own_ns : 1;
    if (is_to_warm(c))
        return rest > WARM_NS ? rest - WARM_NS : rest;
    return is_to_take_pace(c) && rest > PACE_NS ? rest - PACE_NS : rest;
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
    c->patient = false;
    c->early_ticks = 0;
    c->waits_own_ns = c->own_ns;
    c->waits_from_ns = ticker_now(CLOCK_MONOTONIC);
    wait_for_burst(thread, rest_of(c));
}

bool call_burst_is_due(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive)
        return false;
    call_burst_account(thread);
    if (is_time(c, 0))
        return true;
    if (is_to_warm(c) && is_time(c, WARM_NS))
        warm(c);
    else if (is_to_take_pace(c) && is_time(c, PACE_NS))
        call_burst_take_pace(c);
    else
        c->early_ticks++;
    wait_for_burst(thread, rest_of(c));
    return false;
}

void call_burst_put_off(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || c->in_burst)
        return;
    uint64_t length = agent.settings.burst_length_ns;
    wait_for_burst(thread, c->early_ticks++ < SOON_TIMES ? length / SOON_PART : length);
}

void call_burst_forget(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || c->in_burst)
        return;
    call_burst_cool(c);
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
