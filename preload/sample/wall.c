/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall.c - walks due at points of a thread's real time, or of the time that it is off the processor
 * (off_only), looked for at ticks of real time.
 *
 * The timer meets the thread at the next point wherever it is: so no point is missed, and each
 * weighs its step. The CPU timer does not run. Where the clock of the points stands still meanwhile
 * (wall_clock.h) the tick comes too early, and the timer is set to what is left then. In a sleep
 * that has lasted for long the next check is put off (wall_sleep.h).
 */
#include "preload/sample/wall.h"

#include <string.h>

#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/sample/calm.h"
#include "preload/sample/draw.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/thread_timer.h"
#include "preload/sample/wall_clock.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/sleep.h"

#define EARLY_NS   100000 /* a second check of a sleep may come so much before its point, ... */
#define EARLY_PART 16     /* ... but no more than this part of a step */

/* CPU time from `since` on that has passed. */
static uint64_t unseen_ns(uint64_t since) {
    uint64_t cpu = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return since < cpu ? cpu - since : 0;
}

bool wall_begin(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since) {
    struct trigger *t = &thread->trigger;
    uint64_t words[INTERVAL_WORDS];
    if (wall_ticker(thread)->made)
        return wall_has_all(thread);
    if (!thread_timer_get(thread, TRIGGER_WALL, session))
        return false;
    if (session != NULL)
        session_expect_slots(session); /* its first sample may be taken when the process ends */
    for (int i = 0; i < INTERVAL_WORDS; i++)
        words[i] = draw_word(&thread->random);
    t->wall.off_only = plan->off_only;
    uint64_t now = t->wall.checked_ns = wall_clock_now(t);
    uint64_t begins = t->wall.off_only ? now : now - unseen_ns(since);
    t->wall.due_ns = begins + interval_begin(&t->wall.steps, plan->wall_ns, 1, words);
    sleep_burst |= SLEEP_FRAGILE | SLEEP_WATCHED;
    if (!t->wall.off_only) {
        t->first.pending = false;
        ticker_halt(&t->ticker[TRIGGER_CPU]);
    }
    wall_clock_aim(thread, now);
    return !t->wall.off_only;
}

/* Not all threads at once. */
void wall_ask(struct agent_thread *thread, uint64_t ns) {
    if (wall_ticker(thread)->made || !thread_timer_make(thread, TRIGGER_WALL, CLOCK_MONOTONIC))
        return;
    sleep_burst |= SLEEP_FRAGILE;
    ticker_run(wall_ticker(thread), interval_draw(ns, draw_word(&thread->random)), ns);
}

uint64_t wall_due(struct agent_thread *thread) {
    return wall_ticker(thread)->period_ns != 0
               ? wall_clock_reach(thread, wall_clock_now(&thread->trigger))
               : 0;
}

/* Credits what is unsent to the context that the tick has met, or to the call at whose end it
 * comes. */
static bool walk(struct agent_thread *thread, struct wire_session *session, ucontext_t *uc,
                 const struct sleep_call *call) {
    struct sleep_place place, own;
    if (call == NULL)
        return sampling_walk(thread, session, uc);
    place = sleep_place(call, true);
    sleep_show(thread, uc, &place, &own);
    bool walked = sampling_walk(thread, session, uc);
    sleep_show(thread, uc, &own, &place);
    return walked;
}

/* Where the clock stands still while the thread runs, the timer comes before its point then. A
 * sleep that goes on is as good as at the point; the first check of one may be too early for it. */
static uint64_t tolerance(const struct sampling_plan *plan, bool same) {
    uint64_t part = plan->wall_ns / EARLY_PART;
    return !same || !plan->off_only ? 0 : part < EARLY_NS ? part : EARLY_NS;
}

/* The timer, after a check. */
static void plan_check(struct agent_thread *thread, uint64_t now) {
    struct trigger *t = &thread->trigger;
    t->wall.late = false;
    t->wall.checked_ns = now;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    if (t->wall.asleep)
        t->wall.cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (t->wall.asleep && wall_sleep_is_long(t, now))
        wall_sleep_put_off(thread, now);
    else
        wall_clock_aim(thread, now);
}

/* The check meets the sleep that the last one has met. */
static bool is_same_sleep(const struct trigger *t, uint64_t sleeps) {
    bool not_over = t->wall.late && t->wall.call != 0; /* its end would have been heard */
    return t->wall.in_call && (not_over || sleeps - t->wall.sleeps <= 1);
}

void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    const struct sleep_call *call = sleep_call_at(uc);
    bool in_call = call == NULL && interrupted_in_call(uc);
    if (wall_ticker(thread)->period_ns == 0)
        return; /* it was under way when the timer was given up */
    uint64_t sleeps = in_call ? wall_sleeps() : 0;
    bool same = in_call && is_same_sleep(t, sleeps);
    if (same)
        wall_sleep_lasts(thread);
    else if (t->wall.late)
        (void)wall_sleep_is_over(thread, in_call || call != NULL);
    uint64_t now = wall_clock_now(t);
    thread->unsent_ns += wall_clock_reach(thread, now + tolerance(plan, same));
    bool walked = walk(thread, session, uc, call);
    if (in_call && sleep_is_in(&thread->open_call, uc))
        calm_met(thread, thread->open_call.which);
    if (walked && (in_call || call != NULL))
        session_count(thread->stream->slot, WIRE_ASLEEP, 1);
    t->wall.in_call = in_call;
    t->wall.asleep = in_call && walked;
    t->wall.sleeps = sleeps;
    if (!same)
        t->wall.since_ns = now;
    if (t->wall.asleep)
        wall_sleep_met(thread);
    plan_check(thread, now);
}

void wall_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    if (t->wall.late) {
        thread->unsent_ns += wall_sleep_is_over(thread, false);
        wall_clock_aim(thread, wall_clock_now(t));
    }
    t->wall.asleep = false; /* the last sample is another now */
    (void)walk(thread, session, uc, sleep_call_at(uc));
    (void)wall_begin(thread, session, plan, UINT64_MAX); /* another thread has moved the signal */
}

uint64_t wall_lose(struct agent_thread *thread, const ucontext_t *uc) {
    bool runs = sleep_call_at(uc) == NULL && !interrupted_in_call(uc);
    return runs && wall_has_all(thread) && !thread->trigger.wall.late ? wall_due(thread) : 0;
}

void wall_end(struct agent_thread *thread) {
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)(SLEEP_FRAGILE | SLEEP_NEXT | SLEEP_WATCHED);
    ticker_free(wall_ticker(thread));
    memset(&thread->trigger.wall, 0, sizeof thread->trigger.wall);
}
