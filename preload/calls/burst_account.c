/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_account.c - what bursts of calls have seen, and what they have cost.
 *
 * Two numbers tell which part of a thread was seen: its own CPU time within bursts, and between
 * them. So what is seen of a function is in proportion to its calls however much its reports cost.
 */

#include "preload/calls/burst_parts.h"
#include "preload/calls/tick_price.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/redirect/redirect.h"

#define LEAST_PART 64    /* the program has had one part in so many, whatever is measured */
#define TICK_NS    4000u /* of a tick, where it can't be measured */

/* ---- the program's own time ---- */

void call_burst_price_from_here(struct calls *c) {
    c->price.words = call_burst_position(c);
    c->price.ticks = price_ticks();
    c->price.time_ns = ticker_now(CLOCK_MONOTONIC);
    c->price.rare_ns = 0;
    c->price.mean = price_mean(&c->price);
    c->price.sum = c->price.n = 0;
    c->price.mask = price_mask(true);
    c->part_passed = c->thread == thread_self ? calls_passed : 0;
}

/* What reports take where nothing is waited for. */
static struct price_usual usual;

/* What a tick takes beside its handler. */
static uint64_t tick_takes = TICK_NS;

uint64_t call_burst_tick_takes(void) {
    return tick_takes;
}

void call_burst_start(void) {
    uint64_t before;
    if (!call_burst_is_meant())
        return;
    uint64_t measured = tick_price(thread_self);
    if (measured != 0)
        tick_takes = measured;
    if (!signal_block_all(&before))
        return;
    usual = redirect_is_meant() ? redirect_price() : calls_price();
    signal_put_back(before);
}

/* So many ticks, PRICE_ONE each, at this part's pace. */
static uint64_t ns_of(const struct price *price, uint64_t ticks) {
    uint64_t passed = price_ticks() - price->ticks;
    uint64_t ns = ticker_now(CLOCK_MONOTONIC) - price->time_ns;
    return passed > 0 ? (uint64_t)((unsigned __int128)ticks * ns / passed / PRICE_ONE) : 0;
}

/* Of `used` CPU time of this part of the burst, what the program had itself: without its reports,
 * but at least what its calls take, and a little in any case, or the burst might never end. */
uint64_t call_burst_programs_ns(const struct calls *c, uint64_t used) {
    const struct price *price = &c->price;
    uint64_t words = call_burst_position(c) - price->words;
    uint64_t mean = price_mean(price);
    uint64_t waits = mean > usual.measured ? mean - usual.measured : 0;
    uint64_t own = ns_of(price, words * (usual.report + waits)) + price->rare_ns;
    uint64_t least = ns_of(price, words * usual.bare) + used / LEAST_PART;
    uint64_t ns = own + least < used ? used - own : least;
    ns = ns < used ? ns : used;
    if (c->thread != thread_self || c->redirect == NULL)
        return ns;
    ns = pace_ns(&c->pace, calls_passed - c->part_passed, used, ns);
    return ns > used / LEAST_PART ? ns : used / LEAST_PART;
}

void call_burst_take_pace(struct calls *c) {
    if (c->thread == thread_self)
        pace_begin(&c->pace, calls_passed, c->own_ns);
}

/* A stub takes half of what a call by it does in a loop. Before the first burst the clocks have not
 * been compared. */
void call_burst_know_pace(struct calls *c) {
    uint64_t stub_ps = c->price.time_ns != 0 ? ns_of(&c->price, 1000 * usual.bare / 2) : 0;
    if (c->thread == thread_self)
        pace_end(&c->pace, calls_passed, c->own_ns, stub_ps);
}

/* ---- what was seen ---- */

/* A thread has its slot when its first burst begins. One that ends before has others tell what it
 * had. */
static void count_unseen(struct calls *c, uint64_t ns) {
    _Atomic uint64_t *left = &agent.process->untold_ns;
    c->own_ns += ns;
    c->untold_ns += ns;
    if (c->slot == NULL)
        return;
    if (atomic_load(left) != 0)
        c->untold_ns += atomic_exchange(left, 0);
    if (c->untold_ns == 0)
        return;
    session_count(c->slot, WIRE_UNSEEN_NS, c->untold_ns);
    c->untold_ns = 0;
}

void call_burst_leave_untold(struct calls *c) {
    if (c->slot == NULL && c->untold_ns != 0)
        atomic_fetch_add(&agent.process->untold_ns, c->untold_ns);
    c->untold_ns = 0;
}

/* CPU time of the agent's that the kernel counts as the thread's; under a budget, what profiling
 * has cost. */
static void count_ours(struct calls *c, uint64_t ns) {
    bool has_budget = agent.settings.budget_ppm != 0;
    if (has_budget)
        c->cost_ns += ns;
    c->ours_untold_ns += ns;
    if (c->slot == NULL)
        return;
    session_count(c->slot, WIRE_OWN_NS, c->ours_untold_ns);
    if (has_budget)
        session_count(c->slot, WIRE_COST_NS, c->ours_untold_ns);
    c->ours_untold_ns = 0;
}

/* ---- what is ours outside of reports ---- */

void calls_tick_begins(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (call_burst_is_meant() && c != NULL && c->alive)
        c->tick_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
}

void calls_tick_ends(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    if (c == NULL || !c->alive || c->tick_ns == 0)
        return;
    call_burst_account(thread);
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    count_ours(c, now - c->tick_ns + tick_takes);
    c->from_ns = now + tick_takes;
    c->tick_ns = 0;
}

/* The agent's start, which is paid once: under a budget, it is made good later on. */
static void count_start(struct calls *c) {
    static bool counted;
    if (counted || c->thread->tid != agent.process->pid || c->from_ns <= agent.process->earlier_ns)
        return;
    counted = true;
    uint64_t ns = c->from_ns - agent.process->earlier_ns;
    count_ours(c, ns);
    c->once_ns += ns;
}

void call_burst_starts(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    c->from_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (call_burst_is_meant())
        count_start(c);
}

void calls_leave_out(struct calls *c, uint64_t began_ns) {
    if (began_ns != 0)
        c->from_ns += ticker_now(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

uint64_t call_burst_used(const struct calls *c) {
    uint64_t now = c->tick_ns != 0 ? c->tick_ns : ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return now > c->from_ns ? now - c->from_ns : 0;
}

uint64_t call_burst_cost_begin(void) {
    return agent.settings.budget_ppm != 0 ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void call_burst_cost_once(struct agent_thread *thread, uint64_t began_ns) {
    struct calls *c = thread->calls;
    if (began_ns != 0 && c != NULL && c->alive)
        c->once_ns += ticker_now(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

/* Of the burst, `used` CPU time. What comes after its length, without any report, was not
 * seen: a burst that waited for one would show too few. */
static void count_seen(struct calls *c, uint64_t used) {
    uint64_t ns = call_burst_programs_ns(c, used);
    uint64_t left = c->left_ns, late = !c->armed && ns > left ? ns - left : 0;
    c->left_ns = ns < left ? left - ns : 0;
    c->own_ns += ns - late;
    count_unseen(c, late);
    if (c->slot == NULL)
        return;
    session_count(c->slot, WIRE_SEEN_NS, ns - late);
    session_count(c->slot, WIRE_STANDS_NS, c->stands * (ns - late));
    count_ours(c, used - ns);
}

void call_burst_account(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    uint64_t used = call_burst_used(c);
    if (c->in_burst) {
        count_seen(c, used);
        call_burst_price_from_here(c);
    } else {
        count_unseen(c, used);
    }
    c->from_ns += used;
}
