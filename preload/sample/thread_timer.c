/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_timer.c - the signal may change while a timer is made.
 */
#include "preload/sample/thread_timer.h"

#include "common/wire/compiler.h"
#include "preload/life/signal.h"
#include "preload/sample/ticker.h"

/* Who moves the signal waits for threads that are about to make a timer, but not for ever: one that
 * waits for a processor in the middle of this would have a timer whose signal has the default
 * action by then. It does not run yet. */
bool thread_timer_make(struct agent_thread *thread, enum trigger_kind kind, clockid_t clock) {
    struct ticker *ticker = &thread->trigger.ticker[kind];
    for (;;) {
        int number = signal_number();
        if (number == 0 || !ticker_make(ticker, clock, number, thread->tid))
            return false;
        if (hcct_likely(number == signal_number()))
            return true;
        ticker_free(ticker);
    }
}

bool thread_timer_get(struct agent_thread *thread, enum trigger_kind kind,
                      struct wire_session *session) {
    struct trigger *t = &thread->trigger;
    if (t->ticker[kind].made)
        return true;
    if (t->fine_refused)
        return false;
    t->fine_refused = !thread_timer_make(thread, kind, CLOCK_MONOTONIC);
    if (t->fine_refused && session != NULL)
        atomic_fetch_add(&session->fine_refused, 1);
    return !t->fine_refused;
}
