/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unsampled.c - from the moment when a thread was sampled last to sums.
 */
#include "preload/life/unsampled.h"

#include "preload/life/session.h"
#include "preload/sample/ticker.h"

/* Samples are weighed by it. Never 0. */
static uint64_t clock_of(const struct agent_thread *thread) {
    uint32_t clock = agent.settings.clock;
    uint64_t time = wire_clock_sleeps(clock) ? ticker_now(CLOCK_MONOTONIC) : 0;
    if (clock == WIRE_CLOCK_WALL)
        return time;
    uint64_t cpu = ticker_now(ticker_cpu_clock(thread->tid)), now = time != 0 ? time - cpu : cpu;
    return now != 0 ? now : 1;
}

/* Calls have an account of their own (calls/burst_account.c), and events are not by a clock. */
static bool is_by_clock(void) {
    return agent.settings.collector == WIRE_COLLECT_WALKS;
}

static uint64_t begins(const struct agent_thread *thread, uint64_t since) {
    uint64_t now = clock_of(thread);
    if (wire_clock_sleeps(agent.settings.clock) || since >= now)
        return now;
    return since != 0 ? since : 1;
}

void unsampled_begin(struct agent_thread *thread, uint64_t since, bool lost) {
    if (!is_by_clock() || atomic_load(&thread->unsampled.from_ns) != 0)
        return;
    thread->unsampled.lost = lost;
    atomic_store(&thread->unsampled.from_ns, begins(thread, since));
}

/* `next`: 0, or where the rest is to count from. */
static void take(struct agent_thread *thread, uint64_t from, uint64_t now, uint64_t next) {
    if (atomic_compare_exchange_strong(&thread->unsampled.from_ns, &from, next) && now > from)
        unsampled_add(now - from, thread->unsampled.lost);
}

void unsampled_end(struct agent_thread *thread) {
    uint64_t from = atomic_load(&thread->unsampled.from_ns);
    if (from != 0)
        take(thread, from, clock_of(thread), 0);
}

void unsampled_account(struct agent_thread *thread) {
    uint64_t from = atomic_load(&thread->unsampled.from_ns);
    if (from == 0)
        return;
    uint64_t now = clock_of(thread);
    if (now > from) /* else it has ended */
        take(thread, from, now, now);
}

void unsampled_account_all(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && !t->ending)
            unsampled_account(t);
}

void unsampled_add(uint64_t ns, bool lost) {
    struct agent_unsampled *sum = &agent.process->unsampled;
    atomic_fetch_add(lost ? &sum->lost_ns : &sum->unasked_ns, ns);
}

/* ---- to the daemon ---- */

void unsampled_report(struct wire_session *session) {
    struct agent_unsampled *sum = &agent.process->unsampled;
    atomic_fetch_add(&session->lost_ns[agent.settings.ticks_to], atomic_exchange(&sum->lost_ns, 0));
    atomic_fetch_add(&session->unasked_ns, atomic_exchange(&sum->unasked_ns, 0));
}

void unsampled_pass(struct wire_session *session) {
    struct agent_unsampled *sum = &agent.process->unsampled;
    unsampled_account_all();
    atomic_store(&session->between.lost_ns, atomic_exchange(&sum->lost_ns, 0));
    atomic_store(&session->between.unasked_ns, atomic_exchange(&sum->unasked_ns, 0));
    uint64_t now = ticker_now(CLOCK_PROCESS_CPUTIME_ID);
    session->before_ns = now > agent.process->earlier_ns ? now - agent.process->earlier_ns : 0;
}

void unsampled_leave(struct wire_session *left) {
    const struct agent_unsampled *sum = &agent.process->unsampled;
    atomic_store(&left->after.lost_ns, atomic_load(&sum->lost_ns));
    atomic_store(&left->after.unasked_ns, atomic_load(&sum->unasked_ns));
}
