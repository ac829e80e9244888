/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fine_timer.c - the event is tried once for each plan.
 */
#include "preload/sample/fine_timer.h"

#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/sample/thread_timer.h"

static struct ticker *fine(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

/* A signal of the event can be pending when the program executes another one. */
static bool open_event(struct agent_thread *thread, struct wire_session *session) {
    struct trigger *t = &thread->trigger;
    int number = signal_number();
    t->task_clock_tried = true;
    bool opened = number != 0 && signal_may_wait(number) &&
                  task_clock_open(&t->task_clock, number, thread->tid);
    if (opened)
        ticker_halt(fine(thread));
    else if (session != NULL)
        atomic_fetch_add(&session->perf_refused, 1);
    return opened;
}

static bool get_event(struct agent_thread *thread, struct wire_session *session) {
    const struct trigger *t = &thread->trigger;
    if (t->task_clock.open || t->task_clock_tried || thread != thread_self)
        return t->task_clock.open;
    return open_event(thread, session);
}

static bool get_timer(struct agent_thread *thread, struct wire_session *session) {
    struct trigger *t = &thread->trigger;
    if (fine(thread)->made)
        return true;
    if (t->fine_refused)
        return false;
    t->fine_refused = !thread_timer_make(thread, TRIGGER_FINE, CLOCK_MONOTONIC);
    if (t->fine_refused && session != NULL)
        atomic_fetch_add(&session->fine_refused, 1);
    return !t->fine_refused;
}

bool fine_timer_get(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan) {
    return (plan->by_event && get_event(thread, session)) || get_timer(thread, session);
}

bool fine_timer_runs(const struct agent_thread *thread) {
    const struct trigger *t = &thread->trigger;
    return t->task_clock.open || t->ticker[TRIGGER_FINE].period_ns != 0;
}

void fine_timer_run(struct agent_thread *thread, uint64_t at_ns, uint64_t rest_ns,
                    uint64_t period_ns) {
    struct trigger *t = &thread->trigger;
    if (t->task_clock.open && task_clock_run(&t->task_clock, rest_ns))
        return;
    t->task_clock.open = false;
    if (get_timer(thread, NULL))
        ticker_run_at(fine(thread), at_ns, period_ns);
}

void fine_timer_halt(struct agent_thread *thread) {
    task_clock_close(&thread->trigger.task_clock);
    ticker_halt(fine(thread));
}

bool fine_timer_is_lost(struct agent_thread *thread) {
    struct task_clock *clock = &thread->trigger.task_clock;
    if (!clock->open || task_clock_is_there(clock))
        return false;
    clock->open = false;
    return true;
}
