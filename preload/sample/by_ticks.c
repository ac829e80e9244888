/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * by_ticks.c - the CPU time since the last walk goes to the next.
 */
#include "preload/sample/by_ticks.h"

void by_ticks_begin(struct agent_thread *thread, const struct sampling_plan *plan) {
    ticker_run(&thread->trigger.ticker[TRIGGER_CPU], 1, plan->coarse_ns);
}

void by_ticks_tick(struct agent_thread *thread, struct wire_session *session,
                   const ucontext_t *uc) {
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    thread->unsent_ns += now - thread->trigger.cpu_ns;
    thread->trigger.cpu_ns = now;
    sampling_walk(thread, session, uc);
}
