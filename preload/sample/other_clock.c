/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * other_clock.c - the CPU time since the last walk goes to the next.
 */
#include "preload/sample/other_clock.h"

#include "preload/life/session.h"
#include "preload/life/signal.h"

bool other_clock_wanted(const struct agent_thread *thread, const struct sampling_plan *plan) {
    const struct trigger *t = &thread->trigger;
    return plan->perf_ns != 0 && (t->task_clock_ns != plan->perf_ns || t->task_clock.open);
}

void other_clock_begin(struct agent_thread *thread, const struct sampling_plan *plan) {
    ticker_run(&thread->trigger.ticker[TRIGGER_CPU], 1, plan->coarse_ns);
}

/* The CPU timer comes seldom then, to notice when the event is gone. */
#define WATCH_NS SECOND_NS

/* True: the event samples. */
static bool event_runs(struct agent_thread *thread, struct wire_session *session,
                       const struct sampling_plan *plan) {
    struct trigger *t = &thread->trigger;
    bool tried = t->task_clock_ns == plan->perf_ns;
    if (plan->perf_ns == 0)
        return false;
    if (tried && t->task_clock.open && t->cpu_ns - t->task_clock_seen_ns < WATCH_NS)
        return true;
    task_clock_close(&t->task_clock);
    if (tried)
        return false; /* refused, or closed by the application */
    t->task_clock_ns = plan->perf_ns;
    int number = signal_number();
    if (!signal_may_wait(number) ||
        !task_clock_open(&t->task_clock, number, thread->tid, plan->perf_ns)) {
        atomic_fetch_add(&session->perf_refused, 1);
        return false;
    }
    t->task_clock_seen_ns = t->cpu_ns;
    ticker_run(&thread->trigger.ticker[TRIGGER_CPU], WATCH_NS, WATCH_NS);
    return true;
}

void other_clock_tick(struct agent_thread *thread, struct wire_session *session,
                      const ucontext_t *uc) {
    sampling_account(thread);
    thread->trigger.task_clock_seen_ns = thread->trigger.cpu_ns;
    sampling_walk(thread, session, uc);
}

void other_clock_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                          const struct sampling_plan *plan, const ucontext_t *uc) {
    sampling_account(thread);
    if (event_runs(thread, session, plan))
        return; /* its walks take what is unsent */
    sampling_walk(thread, session, uc);
    ticker_run(&thread->trigger.ticker[TRIGGER_CPU], plan->coarse_ns, plan->coarse_ns);
}
