/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * first.c - the first tick of a thread.
 *
 * The first tick of the kernel is drawn by chance; then the timer becomes periodic, and needs no
 * further care.
 */
#include "preload/sample/first.h"

#include "preload/sample/draw.h"
#include "preload/sample/ticker.h"

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

static uint64_t now_of(const struct agent_thread *thread) {
    return ticker_now(ticker_cpu_clock(thread->tid));
}

/* Sample points are uniform from here on. */
static void run_periodic(struct agent_thread *thread, const struct sampling_plan *plan) {
    uint64_t wait = draw_below(draw_word(&thread->random), plan->coarse_ns);
    ticker_run(cpu_ticker(thread), 1 + wait, plan->coarse_ns);
}

/* The timer runs from now on; `unseen` of CPU time have passed without it. */
static void arm(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t now,
                uint64_t unseen) {
    struct first *first = &thread->trigger.first;
    first->armed_ns = now;
    first->unseen_ns = draw_roulette(draw_word(&thread->random), unseen, plan->coarse_ns);
    if (first->unseen_ns != 0)
        ticker_fire(cpu_ticker(thread), plan->coarse_ns);
    else
        ticker_run(cpu_ticker(thread), 1, plan->coarse_ns);
}

void first_begin(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                 bool at_tick) {
    struct first *first = &thread->trigger.first;
    bool samples = !plan->idle && agent.settings.collector == WIRE_COLLECT_WALKS;
    *first = (struct first){.pending = samples && !at_tick};
    if (!first->pending) {
        run_periodic(thread, plan);
        return;
    }
    uint64_t now = now_of(thread);
    first->since_ns = since < now ? since : now;
    first->switches = since != 0 ? thread_switches() : 0;
    arm(thread, plan, now, now - first->since_ns);
}

/* Since the beginning. */
static uint64_t new_switches(const struct first *first) {
    uint64_t now = thread_switches();
    return now > first->switches ? now - first->switches : 0;
}

uint64_t first_tick(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct first *first = &thread->trigger.first;
    uint64_t now = thread->trigger.cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (first->unseen_ns != 0) {
        uint64_t unseen = first->unseen_ns;
        arm(thread, plan, now, now - first->armed_ns);
        return unseen;
    }
    first->pending = false;
    run_periodic(thread, plan);
    uint64_t weight =
        draw_first_weight(ticker_resolution(), now - first->since_ns, new_switches(first));
    return draw_roulette(draw_word(&thread->random), weight, plan->coarse_ns);
}
