/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_account.c - what bursts of calls have seen, and what they have cost.
 *
 * Two numbers tell which part of a thread was seen: its own CPU time within bursts, and between
 * them. So what is seen of a function is in proportion to its calls however much its reports cost.
 */
#include <signal.h>

#include "preload/calls/burst_parts.h"
#include "preload/life/session.h"
#include "preload/redirect/redirect.h"

#define LEAST_PART 64   /* the program has had one part in so many, whatever is measured */
#define TICK_NS    4000 /* of the kernel, to bring a signal and to go back */

/* ---- the program's own time ---- */

void call_burst_price_from_here(struct calls *c) {
    c->price.words = call_burst_position(c);
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
uint64_t call_burst_programs_ns(const struct calls *c, uint64_t used) {
    const struct price *price = &c->price;
    uint64_t words = call_burst_position(c) - price->words;
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
    uint64_t used = now > c->from_ns ? now - c->from_ns : 0, ns = call_burst_programs_ns(c, used);
    uint64_t left = c->left_ns, late = !c->armed && ns > left ? ns - left : 0;
    c->left_ns = ns < left ? left - ns : 0;
    c->own_ns += ns - late;
    count_unseen(c, late);
    if (c->slot == NULL)
        return;
    session_count(c->slot, WIRE_SEEN_NS, ns - late);
    session_count(c->slot, WIRE_STANDS_NS, c->stands * (ns - late));
    session_count(c->slot, WIRE_OWN_NS, used - ns);
    count_cost(c, used - ns);
}

void call_burst_account(struct agent_thread *thread) {
    struct calls *c = thread->calls;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (c->in_burst) {
        count_seen(c, now);
        call_burst_price_from_here(c);
    } else {
        count_unseen(c, now > c->from_ns ? now - c->from_ns : 0);
    }
    c->from_ns = now;
}
