/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_points.c - a call that can sleep is made with our signal blocked, or open (wrap/sleep.h): at
 * both of its ends points are found that were reached whose tick is late, or blocked, and timers
 * are set anew that have waited for its end.
 */
#include "preload/sample/call_points.h"

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/child_ends.h"
#include "preload/life/confine.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/burst_inner.h"
#include "preload/sample/calm.h"
#include "preload/sample/edge.h"
#include "preload/sample/kernel_ticks.h"
#include "preload/sample/nap_watch.h"
#include "preload/sample/own_time.h"
#include "preload/sample/thread_timer.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/handler_in_call.h"
#include "preload/wrap/sleep.h"

#define LOST_NS 20000000 /* a tick so late may have gone to somebody else */
#define SOON_NS 50000    /* a tick that is found may be that of a point so close */

/* The fine timer has expired while our signal was blocked, and was set anew: nobody needs that
 * tick, which would cost as much again. Another one is left where it was. (Taken before, the kernel
 * would start the timer once more.) */
static void discard_tick(struct agent_thread *thread) {
    const struct timespec at_once = {0, 0};
    uint64_t ours = signal_bit(signal_number());
    siginfo_t info;
    if (sys4(SYS_rt_sigtimedwait, &ours, &info, &at_once, KERNEL_SIGSET_BYTES) <= 0 ||
        (info.si_code == SI_TIMER && info.si_value.sival_ptr == thread_fine_timer(thread)))
        return;
    sys4(SYS_rt_tgsigqueueinfo, sys0(SYS_getpid), sys0(SYS_gettid), info.si_signo, &info);
}

/* A nap is over, at `time`, in which a timer has expired in vain: points are looked for again. Our
 * signal is blocked. What that takes is left out before the timer is set, as far as it is known. */
static void go_on(struct agent_thread *thread, struct moment now, uint64_t time) {
    thread->trigger.asleep_ns = 0;
    struct moment then = burst_passed_since(now);
    uint64_t known = own_time_of_setting(thread);
    uint64_t ns = own_time_at_most(then.time_ns - time) + known;
    own_time_leave_out(thread, ns);
    burst_aim(thread, &thread->trigger.plan, then, 1);
    if (points_next(&thread->trigger.points) > then.cpu_ns + SOON_NS)
        discard_tick(thread);
    uint64_t took = own_time_at_most(ticker_now(CLOCK_MONOTONIC) - then.time_ns);
    uint64_t more = took > known ? took - known : 0;
    own_time_leave_out(thread, more);
    own_time_learn_setting(thread, took);
    own_time_for_timer(thread, ns + more);
}

/* Checks at both ends of a call whether a point was reached whose tick was late, or blocked. The
 * thread's clock is dear, and no faster than real time: it is read where the point may have been
 * reached at all. At the end of a sleep, too, where the timer has expired by now: it is set anew,
 * as its tick would come too early. One that has yet to expire is left alone: most sleeps of a
 * thread that naps cost nothing then. What is left of the call belongs to it, and what follows at
 * once can't have a tick of its own. What the CPU timer waits for is found by its tick: a call
 * would have the points of what ran before it. Before the thread has its part of a session the tick
 * has to come, if it still can. */
hcct_hot static void check_point(struct agent_thread *thread, const struct sleep_place *place,
                                 uint64_t time, bool slept) {
    struct trigger *t = &thread->trigger;
    uint64_t within = slept ? CALL_END_NS : 0, ahead = within + (slept ? thread->late_ns : 0);
    if (!burst_runs(thread) || t->by_cpu_timer || time + ahead < t->earliest_ns)
        return;
    struct moment now = burst_now();
    uint64_t next = points_next(&t->points);
    if (now.cpu_ns >= next + LOST_NS)
        agent_hooks.check_signal();
    if (now.cpu_ns + within >= next) {
        if (thread->stream->slot != NULL)
            edge_sample_inside(thread, place, within);
    } else if (slept) {
        points_early(&t->points);
        go_on(thread, now, time);
        edge_sample_own(thread, place, false);
    } else {
        t->earliest_ns = now.time_ns + (next - now.cpu_ns);
    }
}

hcct_hot bool call_points_may_open(struct agent_thread *thread) {
    return (burst_runs(thread) || thread->trigger.kernel_ticks.on) && thread->stream->slot != NULL;
}

/* A tick that comes between would set the timers, too. */
static void over(struct agent_thread *thread, const struct sleep_place *place) {
    struct trigger *t = &thread->trigger;
    if (!t->awaits_call || !t->by_cpu_timer)
        return;
    struct moment now = burst_now();
    if (thread->stream->slot != NULL && now.cpu_ns + CALL_END_NS >= points_next(&t->points)) {
        edge_sample_inside(thread, place, CALL_END_NS);
    } else {
        burst_leave_cpu_timer(thread);
        go_on(thread, now, now.time_ns);
    }
}

static void call_is_over(struct agent_thread *thread, const struct sleep_place *place) {
    uint64_t before;
    if (!signal_block_all(&before))
        return;
    over(thread, place);
    signal_put_back(before);
}

hcct_hot void call_points_begin(struct agent_thread *thread, size_t which,
                                const struct sleep_place *place, uint64_t time) {
    if (hcct_unlikely(thread->trigger.awaits_call)) /* of a handler that has interrupted it */
        call_is_over(thread, place);
    else if (thread->trigger.naps.on)
        nap_watch_call_begins(thread, which, place, time);
    else
        check_point(thread, place, time, false);
}

hcct_hot void call_points_end(struct agent_thread *thread, size_t which,
                              const struct sleep_place *place, uint64_t began, uint64_t time,
                              bool masked) {
    bool slept = time - began > CALL_SLEPT_NS;
    if (thread->trigger.naps.on) {
        nap_watch_call_ends(thread, which, place, began, time);
        return;
    }
    if (hcct_unlikely(thread->trigger.awaits_call))
        call_is_over(thread, place);
    else
        check_point(thread, place, time, slept && masked);
    if (slept)
        nap_watch_learn(thread, began, time);
}

static bool on_stack(const struct agent_thread *thread, uintptr_t address) {
    return address >= thread->stack_low && address < thread->stack_high;
}

void trigger_before_masked(struct sleep_call *call) {
    struct agent_thread *thread = thread_self;
    int ours = signal_number();
    uintptr_t before = sleep_masked;
    if (thread == NULL || ours == 0)
        return;
    /* a call that was left by an exception out of a signal handler */
    if (before != 0 && before <= (uintptr_t)call && on_stack(thread, before) &&
        on_stack(thread, (uintptr_t)call)) {
        sleep_masked = 0;
        signal_unblock();
    }
    wall_awake(thread);
    struct sleep_place place = sleep_place(call, false);
    call->began_ns = ticker_now(CLOCK_MONOTONIC);
    kernel_ticks_call_begins(thread);
    call_points_begin(thread, sleep_number(call), &place, call->began_ns);
    ours = signal_number(); /* it may be another one now */
    call->mask = ours != 0 ? 1ull << (ours - 1) : 0;
    call->waited = sleep_call_waits(call) ? child_ends_waited() : 0;
}

void trigger_after_masked(struct sleep_call *call) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (thread == NULL || !confine_enter(thread, &before))
        return;
    struct sleep_place place = sleep_place(call, true);
    uint64_t time = ticker_now(CLOCK_MONOTONIC);
    if (call->waited != 0) {
        child_ends_learn((pid_t)call->result, call->waited);
        session_hear_children();
    }
    calm_learn(thread, sleep_number(call), time - call->began_ns);
    call_points_end(thread, sleep_number(call), &place, call->began_ns, time, true);
    agent_hooks.wake(thread);
    confine_leave(thread, before);
}

void trigger_handler_begins(struct sleep_call *call) {
    struct sleep_place place = sleep_place(call, true);
    call_points_end(thread_self, sleep_number(call), &place, call->began_ns,
                    ticker_now(CLOCK_MONOTONIC), call->unblock == SLEEP_CALL_MASKED);
}

/* The call will be over at once, most often. */
void trigger_handler_ends(struct sleep_call *call, const struct sleep_place *place, uint64_t time) {
    struct agent_thread *thread = thread_self;
    wall_awake(thread);
    kernel_ticks_call_begins(thread);
    if (thread->trigger.naps.on)
        nap_watch_handler_ends(thread, place, time);
    else
        call_points_begin(thread, sleep_number(call), place, time);
    call->began_ns = time;
}

void trigger_call_left(const struct sleep_place *place) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (thread == NULL || !thread->trigger.naps.on || !confine_enter(thread, &before))
        return;
    nap_watch_call_left(thread, place);
    confine_leave(thread, before);
}
