/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst.c - walks due at points of the thread's CPU time, looked for at ticks of real time.
 *
 * points.h has the points. A tick that comes before the next one, or before the next burst (the
 * thread has slept, or waited for a processor), makes no walk: it sets the timer to what is left.
 * So there are as many walks to a second of CPU time as were asked for, wherever the program calls,
 * sleeps or waits. A point that is reached in a call that can sleep is found at its end, and the
 * timer set anew (call_points.c), so ticks that come early are few.
 *
 * A thread that hardly runs would make a timer of real time come early again and again. Where what
 * is waited for is as far away as the kernel's tick, its CPU timer waits for it then, which costs
 * nothing while it sleeps, and finds it at most a tick late.
 *
 * A thread that sleeps for long in a call that is not wrapped is left alone: there is a gap. It
 * ends at a tick of the kernel, which weighs what the points after it can not: doc/sampling.md.
 */
#include "preload/sample/burst.h"

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/hooks.h"
#include "preload/life/mean.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/sample/burst_inner.h"
#include "preload/sample/calm.h"
#include "preload/sample/draw.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/kernel_ticks.h"
#include "preload/sample/nap_watch.h"
#include "preload/sample/own_time.h"
#include "preload/sample/thread_timer.h"
#include "preload/sample/wall_sleep.h"
#include "preload/wrap/sleep.h"

/* A sleep in a call that is not wrapped is checked after an eighth of the time after which the
 * thread is left, and then when it has slept twice as long. */
#define ASLEEP_STEPS  2
#define ASLEEP_MAX_NS 20000000u /* restart.c takes a call for a new one later */
#define ASLEEP_CHECKS 8
#define EDGE_NS       10000 /* where the agent begins it samples what is due by itself (edge.h) */
#define ATTACH_NS     10000000u /* a program that begins is heard of after so long */
#define EARLY_NS      2000      /* a tick so much before its point is in time */
#define LATE_MOST_NS  30000     /* a tick is not expected to be later */
#define LATE_PART     8         /* of a tick's lateness is learned */
#define LATE_NS       20000 /* one so much behind it says that the timer has lost the CPU clock */

#define HANDLER_NS  4000  /* a handler that samples nothing takes, beside setting a timer */
#define WAY_MOST_NS 60000 /* a signal that was on its way for longer has waited for the thread */

#define FIRST_STEPS 4  /* a thread that is younger may end soon */
#define SAMPLE_PART 16 /* of what a sample takes is learned */

/* Early ticks: the thread may be one that hardly runs, if it has had less than one part in so many
 * of the processor. */
#define NAPS_OF_STEP    3
#define RUNS_ABOVE      4
#define YOUNG_NS        (100 * 1000000ull)
#define STEPPED_NS      4000000 /* no sample takes so long, unless a debugger steps through it */
#define PATIENCE        4       /* the CPU timer may take so many times longer than it should */
#define PATIENCE_MAX_NS (60 * SECOND_NS)

/* Where calls are counted the fine timer ends their bursts. */
bool burst_runs(struct agent_thread *thread) {
    return (thread_fine_timer(thread)->period_ns != 0 && thread->trigger.plan.fine_ns != 0) ||
           thread->trigger.by_cpu_timer || thread->trigger.naps.on;
}

/* A CPU clock is read by a system call: in the middle of it. */
struct moment burst_now(void) {
    uint64_t before = ticker_now(CLOCK_MONOTONIC), cpu = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return (struct moment){cpu, before + (ticker_now(CLOCK_MONOTONIC) - before) / 2};
}

/* Of a thread that begins. The first one of a process may be the only one, and asks the kernel for
 * the time: the pages of its clock are not the process's yet. */
static struct moment first_moment(const struct agent_thread *thread) {
    uint64_t (*now)(clockid_t) =
        thread->tid == agent.process->pid ? ticker_now_by_call : ticker_now;
    uint64_t before = now(CLOCK_MONOTONIC);
    uint64_t cpu = ticker_now(ticker_cpu_clock(thread->tid));
    return (struct moment){cpu, before + (now(CLOCK_MONOTONIC) - before) / 2};
}

/* ---- which timer waits ---- */

/* It goes on by itself where steps are the same. */
static void use_fine_timer(struct agent_thread *thread, const struct sampling_plan *plan,
                           struct moment now, uint64_t rest) {
    struct trigger *t = &thread->trigger;
    uint64_t next = points_next(&t->points);
    t->earliest_ns = now.time_ns + (next > now.cpu_ns ? next - now.cpu_ns : 0);
    ticker_run_at(thread_fine_timer(thread), now.time_ns + rest,
                  points_in_burst(&t->points) ? t->points.steps.step_ns : plan->coarse_ns);
}

/* The fine timer only watches that the kernel's ticks meet the thread at all. */
static void use_cpu_timer(struct agent_thread *thread, const struct sampling_plan *plan,
                          uint64_t rest, uint64_t patience) {
    struct trigger *t = &thread->trigger;
    t->by_cpu_timer = true;
    ticker_run(thread_cpu_timer(thread), rest, plan->coarse_ns);
    t->earliest_ns = UINT64_MAX;
    ticker_run(thread_fine_timer(thread), patience, patience);
}

/* The thread sleeps in an open call: nothing disturbs it until that is over. */
static void await_call(struct agent_thread *thread, const struct sampling_plan *plan,
                       struct moment now) {
    struct trigger *t = &thread->trigger;
    calm_met(thread, thread->open_call.which);
    t->asleep_ns = 0;
    if (t->naps.on) {
        nap_watch_put_off(thread);
        return;
    }
    t->by_cpu_timer = t->awaits_call = true;
    t->earliest_ns = UINT64_MAX;
    ticker_halt(thread_fine_timer(thread));
    ticker_run(thread_cpu_timer(thread), points_next(&t->points) - now.cpu_ns, plan->coarse_ns);
}

void burst_leave_cpu_timer(struct agent_thread *thread) {
    if (!thread->trigger.by_cpu_timer)
        return;
    thread->trigger.by_cpu_timer = thread->trigger.awaits_call = false;
    ticker_halt(thread_cpu_timer(thread));
}

/* A multiple of the time that the thread will need for `rest` of CPU time and until a tick meets
 * it. */
static uint64_t patience(uint64_t rest, uint64_t ran, uint64_t passed) {
    uint64_t cpu = rest + ticker_resolution();
    unsigned __int128 time = (unsigned __int128)PATIENCE * cpu * passed / (ran + 1);
    return time < PATIENCE_MAX_NS ? (uint64_t)time : PATIENCE_MAX_NS;
}

/* What the thread waits for is seldom. Not a burst: one that begins late goes to what runs then, as
 * a whole where it is over by then. */
static bool waits_long(const struct sampling_plan *plan) {
    return plan_is_endless(plan) && plan->fine_ns >= ticker_resolution();
}

/* A point that the CPU timer finds late, the end of the thread would have: of one that lives for a
 * few ms of CPU time, as those do that serve one request, a good part of all. */
static bool is_young(uint64_t cpu_ns) {
    return cpu_ns < YOUNG_NS;
}

/* The timer, to what is next, but not before `least` of real time. */
static void aim_from(struct agent_thread *thread, const struct sampling_plan *plan,
                     struct moment now, uint64_t least) {
    struct trigger *t = &thread->trigger;
    uint64_t cpu = now.cpu_ns, time = now.time_ns;
    uint64_t next = points_next(&t->points), early = cpu + thread->late_ns;
    uint64_t rest = next > early + least ? next - early : least;
    if (session_is_awaited() && rest > ATTACH_NS)
        rest = ATTACH_NS;
    if (t->points.early == 0) {
        t->early_ticks = 0;
        t->step_ns = time;
        t->step_cpu_ns = cpu;
    }
    uint64_t ran = cpu - t->step_cpu_ns, passed = time - t->step_ns;
    bool hardly_runs = t->early_ticks >= NAPS_OF_STEP && ran < passed / RUNS_ABOVE;
    if (hardly_runs && !is_young(cpu) && waits_long(plan) && !t->avoids_ticks)
        use_cpu_timer(thread, plan, rest, patience(rest, ran, passed));
    else
        use_fine_timer(thread, plan, now, rest);
}

/* The thread has run from `then` on: a walk takes longer than many a call. */
struct moment burst_passed_since(struct moment then) {
    uint64_t time = ticker_now(CLOCK_MONOTONIC);
    return (struct moment){then.cpu_ns + (time - then.time_ns), time};
}

void burst_aim(struct agent_thread *thread, const struct sampling_plan *plan, struct moment then,
               uint64_t least) {
    aim_from(thread, plan, burst_passed_since(then), least);
}

static void unmask_sleeps(const struct agent_thread *thread) {
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)(SLEEP_MASKED | SLEEP_FRAGILE);
}

static void stop(struct agent_thread *thread) {
    burst_leave_cpu_timer(thread);
    if (thread->trigger.kernel_ticks.on)
        ticker_halt(thread_cpu_timer(thread));
    kernel_ticks_end(thread);
    nap_watch_end(thread);
    ticker_halt(thread_fine_timer(thread));
    unmask_sleeps(thread);
}

/* Calls that can sleep are made with our signal blocked from now on. But the first tick of a
 * program has to come while it sleeps, too, or the daemon would not hear of it: no call is harmed
 * by it. */
static void mask_sleeps(void) {
    sleep_burst &= ~(uint32_t)(SLEEP_MASKED | SLEEP_FRAGILE);
    sleep_burst |= session_is_awaited() ? SLEEP_FRAGILE : SLEEP_MASKED;
}

/* ---- gaps ---- */

static void begin_gap(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t at) {
    struct trigger *t = &thread->trigger;
    t->gap_ns = at;
    t->gap_switches = thread == thread_self ? thread_switches() : 0;
    ticker_run(thread_cpu_timer(thread), 1, plan->coarse_ns); /* the kernel's next tick */
}

/* What a tick of the kernel weighs that ends a gap. Where the thread came back to a processor last
 * is not known, but how often it did. It is less than the points weigh: by roulette. */
static uint64_t gap_weight(struct agent_thread *thread, const struct sampling_plan *plan,
                           uint64_t gap) {
    uint64_t switches = thread_switches(), before = thread->trigger.gap_switches;
    uint64_t times = switches > before ? switches - before : 0;
    uint64_t weight = draw_start_weight(ticker_resolution(), gap / (1 + times));
    uint64_t least = plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns;
    return draw_roulette(draw_word(&thread->random), weight, least);
}

static void weigh(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                  const ucontext_t *uc) {
    if (weight == 0)
        return;
    thread->unsent_ns += weight;
    sampling_walk(thread, session, uc);
}

void burst_watch(struct agent_thread *thread, const struct sampling_plan *plan, struct moment now,
                 uint64_t least) {
    thread->trigger.asleep_ns = 0;
    ticker_halt(thread_cpu_timer(thread));
    aim_from(thread, plan, now, least);
    mask_sleeps();
}

static void end_gap(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    uint64_t gap = now.cpu_ns - t->gap_ns;
    t->cpu_ns = now.cpu_ns;
    thread->burst_sent = 0; /* this sample is of none */
    weigh(thread, session, gap_weight(thread, plan, gap), uc);
    points_put_off(&t->points, gap);
    burst_watch(thread, plan, burst_passed_since(now), 1);
}

void burst_plan(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since) {
    struct trigger *t = &thread->trigger;
    struct moment now = first_moment(thread);
    t->cpu_ns = since < now.cpu_ns ? since : now.cpu_ns;
    t->avoids_ticks = false;
    t->kernel_ticks = (struct tick_course){0};
    t->naps = (struct nap_course){0};
    t->nap = (struct nap_watch){0};
    if (!thread_timer_get(thread, TRIGGER_FINE, session)) {
        ticker_run(thread_cpu_timer(thread), 1, plan->coarse_ns);
        return;
    }
    points_begin(&t->points, plan, t->cpu_ns, &thread->random);
    thread->burst_sent = 0;
    if (thread == thread_self)
        burst_watch(thread, plan, now, EDGE_NS);
    else
        begin_gap(thread, plan, now.cpu_ns);
}

/* ---- ticks ---- */

/* The slot of a session that was left is no memory of ours any more. */
static uint64_t reach(struct agent_thread *thread, const struct wire_session *session,
                      const struct sampling_plan *plan, uint64_t limit) {
    struct points *points = &thread->trigger.points;
    uint32_t before = points->begun;
    uint64_t weight = points_reach(points, plan, limit, &thread->random);
    if (points->begun != before && session != NULL && thread->stream->slot != NULL)
        session_count(thread->stream->slot, WIRE_BURSTS, points->begun - before);
    return weight;
}

void burst_weigh(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                 const struct sleep_call *call, ucontext_t *uc) {
    struct sleep_place place, own;
    if (call == NULL) {
        weigh(thread, session, weight, uc);
        return;
    }
    place = sleep_place(call, true);
    sleep_show(thread, uc, &place, &own);
    weigh(thread, session, weight, uc);
    sleep_show(thread, uc, &own, &place);
}

/* By so much the timer was set before its point. */
static uint64_t lead(const struct agent_thread *thread) {
    return nap_watch_is_narrow(thread) ? NAP_WATCH_LATE_NS : thread->late_ns;
}

/* Real time is ahead of the CPU clock by what the thread has slept since the timer was set. One
 * that has not slept is as good as there: after a sleep what comes next is not what the tick has
 * met. */
static bool comes_early(const struct agent_thread *thread, struct moment now, uint64_t next) {
    if (now.cpu_ns >= next)
        return false;
    uint64_t left = next - now.cpu_ns, earliest = thread->trigger.earliest_ns;
    return left > lead(thread) + EARLY_NS || now.time_ns + left > earliest + EARLY_NS;
}

/* A tick comes late, by what the machine takes for one, and its timer is set so much earlier. By
 * how much is learned from ticks that have met the thread where it runs: half of them are early
 * then. */
static void learn_late(struct agent_thread *thread, struct moment now, uint64_t next,
                       const ucontext_t *uc) {
    int64_t late = (int64_t)(now.cpu_ns - next);
    if (nap_watch_is_narrow(thread) || sleep_call_at(uc) != NULL || late > LATE_MOST_NS ||
        now.time_ns > thread->trigger.earliest_ns + late + EARLY_NS)
        return;
    int64_t learned = (int64_t)thread->late_ns + late / LATE_PART;
    thread->late_ns = (uint32_t)(learned < 0 ? 0 : learned > LATE_MOST_NS ? LATE_MOST_NS : learned);
}

/* A timer that came too early, where the thread works: it has waited for a processor. */
static void aim_as_before(struct agent_thread *thread, const struct sampling_plan *plan,
                          struct moment now) {
    if (nap_watch_is_narrow(thread))
        nap_watch_aim(thread, burst_passed_since(now));
    else
        burst_aim(thread, plan, now, 1);
}

static void leave_asleep(struct agent_thread *thread, const struct sampling_plan *plan,
                         uint64_t now) {
    stop(thread);
    begin_gap(thread, plan, now);
}

static uint64_t longest_sleep(const struct sampling_plan *plan) {
    uint64_t steps = ASLEEP_STEPS * plan->fine_ns;
    return steps < ASLEEP_MAX_NS ? steps : ASLEEP_MAX_NS;
}

/* For so long the sleep that this tick has met was met before. The tick before woke the thread. */
static uint64_t slept(struct trigger *t) {
    uint64_t time = ticker_now(CLOCK_MONOTONIC), switches = thread_switches();
    if (t->asleep_ns == 0 || switches > t->asleep_switches + 1)
        t->asleep_ns = time;
    t->asleep_switches = switches;
    return time - t->asleep_ns;
}

/* Since the last early tick. One that has waited for a processor computes, and may end soon: then
 * the CPU timer would leave a quarter of 8 ms to the thread's end. */
static bool slept_since_early_tick(struct trigger *t) {
    uint64_t sleeps = thread_sleeps();
    bool slept = sleeps != t->sleeps;
    t->sleeps = sleeps;
    return slept;
}

/* A sleep in a call that is not wrapped would have to be interrupted time and again, or the point
 * be found by what runs after it. Where the kernel's ticks do not meet the thread a long one makes
 * a gap. Whether it is long must not depend on how near the next point is, or near ones would be
 * put off more often. */
static void too_early(struct agent_thread *thread, const struct sampling_plan *plan,
                      struct moment now, const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    points_early(&t->points);
    t->early_ticks += waits_long(plan) && slept_since_early_tick(t);
    t->cpu_ns = now.cpu_ns;
    if (!interrupted_in_call(uc)) {
        t->asleep_ns = 0;
        aim_as_before(thread, plan, now);
        return;
    }
    if (sleep_is_in(&thread->open_call, uc)) {
        await_call(thread, plan, now);
        return;
    }
    if (!t->avoids_ticks && nap_course_is_certain(&t->naps)) {
        nap_watch_end(thread);
        kernel_ticks_begin(thread, now);
        return;
    }
    uint64_t so_far = slept(t), limit = longest_sleep(plan), first = limit / ASLEEP_CHECKS;
    uint64_t wait = so_far > first ? so_far : first;
    if (t->naps.on)
        nap_watch_check_after(thread, wait);
    else if (so_far >= limit)
        leave_asleep(thread, plan, now.cpu_ns);
    else
        burst_aim(thread, plan, now, wait < limit - so_far ? wait : limit - so_far);
}

/* So much of the thread's time went from the expiry of the timer, which is set to come early, to
 * the handler: a thread that has its first signal touches a stack for it. */
static uint64_t delivery(const struct agent_thread *thread, struct moment now, uint64_t next) {
    uint64_t cpu = now.cpu_ns + lead(thread), time = now.time_ns + lead(thread);
    uint64_t earliest = thread->trigger.earliest_ns;
    uint64_t behind = cpu > next ? cpu - next : 0, since = time > earliest ? time - earliest : 0;
    return behind < since ? behind : since;
}

/* What a sample takes lies behind its point, on the thread's clock, and no other point is near: a
 * thread that ends before the next one would lack it. What it takes on average is added to each of
 * the first samples, whose points put off all that are to come by what it has really taken.
 * `delivered`: for so long the signal was on its way. */
static void weigh_points(struct agent_thread *thread, struct wire_session *session,
                         const struct sampling_plan *plan, struct moment now, uint64_t weight,
                         uint64_t delivered, ucontext_t *uc) {
    _Atomic uint64_t *mean = &agent.process->sample_ns;
    bool may_end = now.cpu_ns < FIRST_STEPS * plan->fine_ns && plan_is_endless(plan) &&
                   !thread->trigger.naps.on;
    if (!may_end || session == NULL) {
        burst_weigh(thread, session, weight, sleep_call_at(uc), uc);
        return;
    }
    uint64_t known = atomic_load_explicit(mean, memory_order_relaxed);
    burst_weigh(thread, session, weight + known, sleep_call_at(uc), uc);
    uint64_t ns = ticker_now(CLOCK_THREAD_CPUTIME_ID) - now.cpu_ns + delivered;
    points_put_off(&thread->trigger.points, ns);
    atomic_store_explicit(mean, mean_after(known, ns, SAMPLE_PART), memory_order_relaxed);
}

/* Where a debugger steps through the handler, one takes longer than the program has until its next
 * point, and the program would get nowhere: it has as long as the handler had, then. */
static void aim_after_sample(struct agent_thread *thread, const struct sampling_plan *plan,
                             struct moment began) {
    struct moment now = burst_passed_since(began);
    uint64_t least = 1;
    if (hcct_unlikely(now.time_ns - began.time_ns >= STEPPED_NS)) {
        uint64_t took = ticker_now(CLOCK_THREAD_CPUTIME_ID) - began.cpu_ns;
        least = took >= STEPPED_NS ? took : 1;
    }
    aim_from(thread, plan, now, least);
}

/* Where the next point is as far away as the timer goes on by itself, it need not be set. */
static void reached(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, struct moment now, uint64_t delivered,
                    bool aims, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t next = points_next(&t->points);
    t->asleep_ns = 0;
    t->cpu_ns = now.cpu_ns;
    thread->by_points = thread->unsent_ns == 0 && nap_course_is_certain(&t->naps);
    uint64_t weight = reach(thread, session, plan, now.cpu_ns > next ? now.cpu_ns : next);
    if (t->naps.on) {
        weight = nap_course_weight(&t->naps, weight);
        nap_course_sampled(&t->naps, weight);
    }
    weigh_points(thread, session, plan, now, weight, delivered, uc);
    thread->by_points = false;
    if (nap_watch_is_narrow(thread))
        nap_watch_met(thread, now, delivered);
    else if (aims || now.cpu_ns > next + LATE_NS ||
             points_next(&t->points) != next + thread_fine_timer(thread)->period_ns)
        aim_after_sample(thread, plan, now);
}

/* The CPU timer has waited. */
static void cpu_timer_tick(struct agent_thread *thread, struct wire_session *session,
                           const struct sampling_plan *plan, ucontext_t *uc) {
    struct moment now = burst_now();
    burst_leave_cpu_timer(thread);
    if (now.cpu_ns + EARLY_NS < points_next(&thread->trigger.points))
        burst_aim(thread, plan, now, 1);
    else
        reached(thread, session, plan, now, 0, true, uc);
}

/* Where there are no points: the CPU time since the last sample goes to this one. */
static void sample_at_tick(struct agent_thread *thread, struct wire_session *session,
                           const struct sampling_plan *plan, const ucontext_t *uc) {
    sampling_account(thread);
    sampling_walk(thread, session, uc);
    ticker_run(thread_cpu_timer(thread), plan->coarse_ns, plan->coarse_ns);
}

void burst_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, ucontext_t *uc) {
    if (!thread_timer_get(thread, TRIGGER_FINE, session)) {
        sample_at_tick(thread, session, plan, uc);
    } else if (thread->trigger.by_cpu_timer) {
        cpu_timer_tick(thread, session, plan, uc);
    } else if (thread->trigger.kernel_ticks.on) {
        kernel_ticks_met(thread, session, plan, uc);
    } else if (thread->trigger.naps.on) {
        nap_watch_tick(thread, session, plan, uc);
    } else if (!burst_runs(thread)) {
        end_gap(thread, session, plan, uc);
    }
}

/* A tick that came too early, and has met the thread where it works, was on its way since its timer
 * expired. In a sleep, and at its end (where it was pending), no time of the thread's went by. */
static void leave_early_out(struct agent_thread *thread, struct moment now, const ucontext_t *uc) {
    uint64_t time = now.time_ns + lead(thread), earliest = thread->trigger.earliest_ns;
    bool works = sleep_call_at(uc) == NULL && !interrupted_in_call(uc);
    uint64_t way = works && time > earliest ? time - earliest : 0;
    uint64_t ns = HANDLER_NS + own_time_of_setting(thread) + (way < WAY_MOST_NS ? way : 0);
    if (thread->trigger.naps.on)
        return; /* nap_watch.c does */
    own_time_leave_out(thread, ns);
    own_time_for_timer(thread, ns);
}

void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t expiries, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    thread->walk_price_ns = 0;
    if (t->kernel_ticks.on) {
        kernel_ticks_check(thread, plan, uc);
        return;
    }
    if (!burst_runs(thread) || plan->fine_ns == 0 || nap_watch_passes(thread))
        return; /* it was under way when the timer was stopped */
    if (hcct_unlikely((sleep_burst & SLEEP_FRAGILE) != 0))
        mask_sleeps();
    if (nap_watch_is_narrow(thread))
        nap_watch_fired(thread);
    struct moment now = burst_now();
    uint64_t next = points_next(&t->points);
    bool is_early = comes_early(thread, now, next);
    if (t->by_cpu_timer && is_early)
        return; /* the thread sleeps longer than it used to */
    t->avoids_ticks |= t->by_cpu_timer;
    burst_leave_cpu_timer(thread);
    uint64_t delivered = sleep_call_at(uc) == NULL ? delivery(thread, now, next) : 0;
    thread->delivery_ns = delivered;
    if (is_early)
        leave_early_out(thread, now, uc);
    t->earliest_ns += expiries * thread_fine_timer(thread)->period_ns;
    if (is_early) {
        too_early(thread, plan, now, uc);
        return;
    }
    learn_late(thread, now, next, uc);
    reached(thread, session, plan, now, delivered, expiries > 1, uc);
}

bool burst_is_due(struct agent_thread *thread, uint64_t within) {
    struct trigger *t = &thread->trigger;
    if (t->nap.own_weight != 0)
        return true;
    return burst_runs(thread) && !nap_watch_passes(thread) &&
           ticker_now(CLOCK_THREAD_CPUTIME_ID) + within >= points_next(&t->points);
}

void burst_catch(struct agent_thread *thread, struct wire_session *session, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t own = t->nap.own_weight;
    t->nap.own_weight = 0;
    thread->walk_price_ns = 0;
    if (own != 0) {
        weigh(thread, session, own, uc);
        return;
    }
    burst_leave_cpu_timer(thread);
    reached(thread, session, &t->plan, burst_now(), 0, true, uc);
}

void burst_end(struct agent_thread *thread) {
    if (burst_runs(thread) || thread->trigger.kernel_ticks.on)
        stop(thread);
}

void burst_leave(struct agent_thread *thread) {
    if (!burst_runs(thread) && !thread->trigger.kernel_ticks.on)
        return;
    thread->trigger.by_cpu_timer = thread->trigger.naps.on = false;
    kernel_ticks_end(thread);
    unmask_sleeps(thread);
}

void burst_check_by(struct agent_thread *thread, uint64_t time_ns) {
    const struct trigger *t = &thread->trigger;
    if (t->by_cpu_timer || t->kernel_ticks.on || nap_watch_passes(thread))
        ticker_run_at(thread_fine_timer(thread), time_ns, thread_fine_timer(thread)->period_ns);
}
