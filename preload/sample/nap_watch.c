/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nap_watch.c - the fine timer runs for a point only while the thread works: in a nap it would
 * expire in vain. So a call of a function that has napped puts it off, and its end sets it again.
 * What that takes is the agent's own, and no part of the clock that points lie on; nor is what a
 * sample takes, which is spread over all samples.
 *
 * The CPU timer comes at the kernel's ticks. One that meets a stretch which is much longer than
 * they are on average has points waited for in all of what is left of it. Whether a tick comes does
 * not depend on whether the stretch was watched.
 */
#include "preload/sample/nap_watch.h"

#include "common/wire/compiler.h"
#include "preload/life/hooks.h"
#include "preload/life/signal.h"
#include "preload/sample/burst.h"
#include "preload/sample/edge.h"
#include "preload/sample/own_time.h"
#include "preload/sample/thread_timer.h"

#define ONCE_NS    (3600 * SECOND_NS) /* the timer's period: it is set anew long before */
#define RETURN_NS  1000               /* from the timer that is set to the program */
#define SOONEST_NS 4000               /* a timer takes so long to come */
#define CLOSE_NS   20000              /* a point that is so close is met to the microsecond */
#define FOUND_MOST 100 /* points in a row that no tick has met: the signal may go elsewhere */

/* ---- the timer, and what it takes ---- */

/* For a timer, at the end of a nap or before it: that is credited to the agent. */
static uint64_t leave_out_timer(struct agent_thread *thread, uint64_t since) {
    uint64_t ns = own_time_since(thread, since);
    own_time_for_timer(thread, ns);
    return ns;
}

/* From here to the next point. */
static uint64_t rest(const struct agent_thread *thread, struct moment now) {
    uint64_t next = points_next(&thread->trigger.points);
    return next > now.cpu_ns ? next - now.cpu_ns : 0;
}

static void wait_until(uint64_t time) {
    while (ticker_now(CLOCK_MONOTONIC) < time)
        ;
}

/* The program goes on when as much time is left to the timer as it is to the point. A close one is
 * waited for: it may take longer to set the timer, or for the timer to come. */
void nap_watch_aim(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    uint64_t left = rest(thread, now);
    uint64_t start =
        now.time_ns + own_time_of_setting(thread) + (left < SOONEST_NS ? SOONEST_NS - left : 0);
    uint64_t late = left < NAP_WATCH_LATE_NS ? left : NAP_WATCH_LATE_NS;
    t->nap.put_off = false;
    ticker_run_at(thread_fine_timer(thread), start + left - late, ONCE_NS);
    own_time_learn_setting(thread, ticker_now(CLOCK_MONOTONIC) - now.time_ns);
    if (left < CLOSE_NS)
        wait_until(start);
    t->earliest_ns = now.time_ns + left + leave_out_timer(thread, now.time_ns);
}

void nap_watch_check_after(struct agent_thread *thread, uint64_t ns) {
    ticker_run(thread_fine_timer(thread), ns, ONCE_NS);
}

/* It runs once: nobody has to halt it any more. */
void nap_watch_fired(struct agent_thread *thread) {
    thread->trigger.nap.found = 0;
    thread_fine_timer(thread)->period_ns = 0;
}

void nap_watch_put_off(struct agent_thread *thread) {
    thread->trigger.nap.put_off = true;
    ticker_halt(thread_fine_timer(thread));
}

/* The stretch is not watched, or no more. */
static void pass(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    t->naps.chance = 0;
    t->earliest_ns = UINT64_MAX;
    ticker_halt(thread_fine_timer(thread));
}

/* Before the thread has its part of a session nothing is sampled here. */
static void sample_inside(struct agent_thread *thread, const struct sleep_place *place,
                          uint64_t within) {
    if (thread->stream->slot != NULL)
        edge_sample_inside(thread, place, within);
}

/* A point that was reached whose timer is late. */
static void check(struct agent_thread *thread, const struct sleep_place *place) {
    struct moment now = burst_now();
    if (rest(thread, now) == 0)
        sample_inside(thread, place, 0);
    else
        thread->trigger.earliest_ns = now.time_ns + rest(thread, now);
}

/* ---- stretches ---- */

/* Points that were reached while nobody waited for them. */
static void pass_over(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    points_reach(&t->points, &t->plan, now.cpu_ns, &thread->random);
}

/* The point of a stretch that a nap is the end of was reached, or is in a stretch to come. */
static struct moment end_stretch(struct agent_thread *thread, const struct sleep_place *place,
                                 uint64_t time) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    t->nap.put_off = t->nap.is_long = false;
    if (t->naps.chance == 0) {
        pass_over(thread, now);
        return now;
    }
    leave_out_timer(thread, time);
    if (now.cpu_ns < points_next(&t->points))
        return now;
    if (++t->nap.found % FOUND_MOST == 0)
        agent_hooks.check_signal();
    t->nap.is_ending = true;
    sample_inside(thread, place, 0);
    t->nap.is_ending = false;
    return burst_now();
}

/* It is watched with that chance, 0: it is not. */
static void begin_stretch(struct agent_thread *thread, const struct sleep_place *place,
                          struct moment now, uint32_t chance) {
    struct trigger *t = &thread->trigger;
    t->naps.chance = chance;
    if (chance == 0)
        pass(thread);
    else if (rest(thread, now) <= RETURN_NS)
        sample_inside(thread, place, RETURN_NS);
    else
        nap_watch_aim(thread, now);
}

/* `drawn`: it was left to chance whether the clock is read, and the stretch to be watched, by an
 * estimate. */
static void turn(struct agent_thread *thread, const struct sleep_place *place, uint64_t time,
                 uint32_t drawn) {
    struct trigger *t = &thread->trigger;
    struct moment now = end_stretch(thread, place, time);
    if (!t->naps.on)
        return; /* the program has attached, and has another plan */
    edge_sample_own(thread, place, false);
    nap_course_read(&t->naps, now.cpu_ns, now.time_ns);
    if (nap_course_is_over(&t->naps, t->plan.fine_ns) ||
        nap_course_varies(&t->naps, t->plan.fine_ns)) {
        nap_watch_end(thread);
        burst_watch(thread, &t->plan, now, 1);
        return;
    }
    if (drawn == 0 || drawn == NAP_CERTAIN)
        drawn = nap_course_draw_known(&t->naps, rest(thread, now), &thread->random);
    begin_stretch(thread, place, now, drawn);
}

/* No tick comes between, which would set timers, too. */
static void turn_here(struct agent_thread *thread, const struct sleep_place *place, uint64_t time,
                      uint32_t drawn) {
    uint64_t before;
    if (!signal_block_all(&before))
        return;
    if (thread->trigger.naps.on)
        turn(thread, place, time, drawn);
    signal_put_back(before);
}

/* ---- beginning and end ---- */

/* Stretches are watched from this one on: its point is where it was. */
static void begin(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    nap_course_begin(&t->naps, now.cpu_ns);
    points_draw_single(&t->points, true);
    t->nap.put_off = t->nap.is_long = false;
    t->naps.chance = nap_course_draw_known(&t->naps, rest(thread, now), &thread->random);
    ticker_run(thread_cpu_timer(thread), 1, 1);
    if (t->naps.chance != 0)
        nap_watch_aim(thread, now);
    else
        pass(thread);
}

static bool may_nap(const struct agent_thread *thread) {
    const struct sampling_plan *plan = &thread->trigger.plan;
    return thread == thread_self && plan_is_endless(plan) && plan->fine_ns < ticker_resolution() &&
           thread->stream->slot != NULL && !thread->trigger.by_cpu_timer &&
           !thread->trigger.kernel_ticks.on;
}

void nap_watch_learn(struct agent_thread *thread, uint64_t began, uint64_t time) {
    struct trigger *t = &thread->trigger;
    uint64_t before;
    nap_course_nap(&t->naps, began, time);
    if (hcct_likely(!nap_course_has_series(&t->naps)))
        return;
    struct moment now = burst_now();
    nap_course_read(&t->naps, now.cpu_ns, now.time_ns);
    if (!may_nap(thread) || !nap_course_pays(&t->naps, t->plan.fine_ns) ||
        !signal_block_all(&before))
        return;
    if (may_nap(thread) && burst_runs(thread))
        begin(thread, now);
    signal_put_back(before);
}

void nap_watch_end(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (!t->naps.on)
        return;
    t->naps.on = t->nap.put_off = t->nap.is_long = false;
    points_draw_single(&t->points, false);
    ticker_halt(thread_cpu_timer(thread));
}

/* ---- ticks ---- */

void nap_watch_met(struct agent_thread *thread, struct moment now, uint64_t delivered) {
    struct trigger *t = &thread->trigger;
    nap_course_took(&t->naps, own_time_since(thread, now.time_ns - delivered));
    now = burst_passed_since(now);
    nap_course_spread(&t->naps, now.cpu_ns);
    if (t->nap.is_ending)
        return;
    t->naps.chance = nap_course_draw_on(&t->naps, rest(thread, now), &thread->random);
    if (t->naps.chance != 0)
        nap_watch_aim(thread, now);
    else
        pass(thread);
}

/* Where its point was reached the tick takes it: it has the same chance as before. */
void nap_watch_tick(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t lasted = ticker_now(CLOCK_MONOTONIC) - t->naps.began_time;
    bool is_long = t->nap.is_long || nap_course_is_long(&t->naps, lasted);
    nap_course_tick(&t->naps, is_long);
    if (!is_long || t->nap.is_long)
        return;
    struct moment now = burst_now();
    t->nap.is_ending = true;
    if (t->naps.chance == 0)
        pass_over(thread, now);
    else if (now.cpu_ns >= points_next(&t->points))
        burst_catch(thread, session, uc);
    t->nap.is_ending = false;
    if (!t->naps.on)
        return; /* the program has attached, and has another plan */
    t->naps.chance = NAP_CERTAIN;
    t->nap.is_long = true;
    t->nap.put_off = false; /* a jump may have left the call */
    burst_aim(thread, plan, now, 1);
}

/* ---- calls that can sleep ---- */

hcct_hot void nap_watch_call_begins(struct agent_thread *thread, size_t which,
                                    const struct sleep_place *place, uint64_t time) {
    struct trigger *t = &thread->trigger;
    if (hcct_likely(t->naps.chance == 0))
        return;
    t->nap.own_call_ns = 0;
    if (time >= t->earliest_ns)
        check(thread, place);
    if (t->naps.on && t->naps.chance != 0 && t->nap.in[which] && !t->nap.is_long) {
        nap_watch_put_off(thread);
        leave_out_timer(thread, time);
    }
}

/* A call is over in which the thread has not slept. */
static void go_on(struct agent_thread *thread, const struct sleep_place *place, uint64_t time) {
    struct trigger *t = &thread->trigger;
    bool waited = t->nap.put_off;
    if (!waited && time < t->earliest_ns)
        return;
    t->nap.put_off = false;
    check(thread, place);
    if (waited && t->naps.on && t->naps.chance != 0)
        nap_watch_aim(thread, burst_now());
}

hcct_hot void nap_watch_call_ends(struct agent_thread *thread, size_t which,
                                  const struct sleep_place *place, uint64_t began, uint64_t time) {
    struct trigger *t = &thread->trigger;
    uint64_t own = t->naps.chance != 0 ? t->nap.own_call_ns : 0;
    bool slept = time - began > CALL_SLEPT_NS + own;
    t->nap.in[which] = slept || t->nap.was_handled;
    t->nap.was_handled = false;
    if (!slept) {
        if (hcct_unlikely(t->naps.chance != 0))
            go_on(thread, place, time);
        return;
    }
    nap_course_nap(&t->naps, began, time);
    uint32_t drawn = 0;
    if (t->naps.chance == 0) {
        drawn = nap_course_draw(&t->naps, points_next(&t->points), &thread->random);
        if (hcct_likely(drawn == 0))
            return;
    }
    turn_here(thread, place, time, drawn);
}

/* The function naps as before, whatever is left of this call. */
void nap_watch_handler_ends(struct agent_thread *thread, const struct sleep_place *place,
                            uint64_t time) {
    struct trigger *t = &thread->trigger;
    t->nap.was_handled = true;
    t->nap.own_call_ns = 0;
    if (t->naps.chance != 0 && time >= t->earliest_ns)
        check(thread, place);
}

/* The stretch goes on, as one does that is not watched: nobody hears of its jumps. */
void nap_watch_call_left(struct agent_thread *thread, const struct sleep_place *place) {
    struct trigger *t = &thread->trigger;
    if (!t->naps.on || !t->nap.put_off || t->naps.chance == 0)
        return;
    if (place != NULL) {
        go_on(thread, place, UINT64_MAX);
        return;
    }
    struct moment now = burst_now();
    pass_over(thread, now);
    nap_watch_aim(thread, now);
}
