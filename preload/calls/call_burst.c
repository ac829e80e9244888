/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_burst.c - when a burst of followed calls begins and ends.
 */

#include "preload/calls/burst_parts.h"
#include "preload/life/confine.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/thread_timer.h"
#include "preload/wrap/sleep.h"

#define INNER_FRAMES 4  /* that are searched for a call that can sleep */
#define NEAR_END     16 /* a burst may be shorter by one part in so many */
#define HARDLY_RUNS  8  /* a thread that has had so small a part of the time was asleep */
#define STRETCH_ONE  256
#define STRETCH_MOST (STRETCH_ONE + STRETCH_ONE / 4)

/* ---- beginnings ---- */

/* The timer that ends the burst when the program has had `rest`, if that takes as long as the last
 * part of a burst has. It may have much more of the time, as what is called for the first time is
 * dear: so this is checked again before long. Or the timer waits for the next report. A handler of
 * the program that leaves this (call_burst_go_on) leaves one timer or the other running. */
static void arm(struct agent_thread *thread, uint64_t rest) {
    struct calls *c = thread->calls;
    uint64_t stretch = c->stretch < STRETCH_ONE ? STRETCH_ONE : c->stretch;
    c->sleeps = thread_sleeps();
    ticker_run(burst_fine(thread), rest * stretch / STRETCH_ONE, agent.settings.burst_length_ns);
    ticker_halt(burst_cpu(thread));
    c->armed = true;
}

static void run(struct agent_thread *thread, bool in_sleeper) {
    struct calls *c = thread->calls;
    call_burst_account(thread);
    call_burst_know_pace(c);
    c->in_burst = true;
    c->armed = c->warms = false;
    c->watches = false;
    c->unsaid = true;
    c->left_ns = agent.settings.burst_length_ns;
    c->stands = c->period.times * (c->group > 0 ? c->group : 1);
    c->burst_from = call_burst_position(c);
    call_burst_price_from_here(c);
    sleep_burst |= SLEEP_MASKED;
    if (in_sleeper)
        ticker_halt(burst_fine(thread));
    else
        arm(thread, c->left_ns);
    session_count(c->slot, WIRE_BURSTS, 1);
    session_count(c->slot, WIRE_PAIRS, c->stands * (c->stands - 1));
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
    else if (!call_burst_is_left_out(thread, session, uc) &&
             thread_timer_get(thread, TRIGGER_FINE, session) &&
             calls_begin_here(thread, session, uc))
        run(thread, in_sleeper(thread));
}

static void begin_first(struct agent_thread *thread) {
    uint64_t began_ns = call_burst_cost_begin();
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    bool timer = thread_timer_get(thread, TRIGGER_FINE, session);
    bool ready = redirect_read_sites(thread, session, 0);
    session_leave(thread);
    if (timer && ready)
        calls_follow_here(thread);
    call_burst_cost_once(thread, began_ns);
    if (calls_self == NULL)
        return;
    struct calls *c = thread->calls;
    period_first(&c->period, agent.settings.burst_length_ns, c->own_ns);
    run(thread, false);
}

void call_burst_first(struct agent_thread *thread) {
    calls_tick_begins(thread);
    begin_first(thread);
    calls_tick_ends(thread);
}

/* ---- ends ---- */

/* Or by so much as a tick may have taken less than it should: the next one might, too. */
static bool is_over(const struct calls *c) {
    uint64_t length = agent.settings.burst_length_ns, tick = call_burst_tick_takes();
    return c->left_ns <= length / NEAR_END || c->left_ns <= (tick < length / 4 ? tick : length / 4);
}

void calls_burst_end(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL)
        return;
    if (!c->in_burst) {
        call_burst_cool(c);
        return;
    }
    if (thread == thread_self) {
        calls_self = NULL;
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
    }
    if (!confine_is_quiet())
        call_burst_account(thread);
    call_burst_learn(c);
    c->in_burst = false;
    c->price.mask = price_mask(false);
    redirect_leave(c);
    if (confine_is_quiet())
        return; /* its timers have gone */
    ticker_halt(burst_fine(thread));
    if (c->busy == 0)
        calls_learn(c);
    call_burst_wait_for_next(thread);
}

static void learn_stretch(struct calls *c, uint64_t ns, uint64_t used) {
    uint64_t stretch = ns > 0 ? used * STRETCH_ONE / ns : STRETCH_MOST;
    c->stretch = stretch < STRETCH_MOST ? stretch : STRETCH_MOST;
}

/* The thread has slept nearly all the time since the timer was set, rather than waited for a
 * processor: it waits for the next report. */
static bool slept_through(const struct calls *c, uint64_t used) {
    uint64_t passed = ticker_now(CLOCK_MONOTONIC) - c->price.time_ns;
    return used < passed / HARDLY_RUNS && thread_sleeps() != c->sleeps;
}

/* The length is CPU time: a thread that had to wait for a processor goes on. Each part of it is
 * counted by itself, so that the price of its reports is the latest. */
void call_burst_tick(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (!c->in_burst)
        return; /* it was under way when the burst ended */
    uint64_t used = call_burst_used(c);
    bool slept = slept_through(c, used);
    learn_stretch(c, call_burst_programs_ns(c, used), used);
    call_burst_account(thread);
    if (calls_self == NULL || is_over(c)) {
        calls_burst_end(thread);
    } else if (slept) {
        c->armed = false;
        ticker_halt(burst_fine(thread));
        ticker_run(burst_cpu(thread), c->left_ns, thread->trigger.plan.coarse_ns);
        c->limit = NULL;
    } else {
        arm(thread, c->left_ns);
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
    uint64_t before;
    if (!c->in_burst || c->armed || confine_is_quiet() || !signal_block_all(&before))
        return true;
    if (c->in_burst && !c->armed)
        go_on(c->thread);
    signal_put_back(before);
    return c->in_burst;
}
