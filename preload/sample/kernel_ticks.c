/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kernel_ticks.c - the CPU timer comes at each tick of the kernel that meets the thread; the fine
 * one at the point of a stretch that has one, and else now and then, to look whether ticks do meet
 * the thread, and whether all this is over.
 *
 * The fine timer runs for a point only while the thread works: in a nap it would expire in vain. So
 * a call of a function that has napped puts it off, and its end sets it again. What that takes is
 * no part of the stretch, or stretches with a point would be longer than others.
 */
#include "preload/sample/kernel_ticks.h"

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/signal.h"
#include "preload/sample/draw.h"
#include "preload/sample/edge.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/thread_timer.h"

#define OWN_MOST_NS 50000 /* what the agent takes for a timer: it has waited if it seems more */
#define RETURN_NS   1000  /* from the timer that is set to the program */
#define OWN_PARTS   8     /* of a step: what it takes is credited in such pieces */

static struct tick_courses *all(void) {
    return &agent.process->tick_courses;
}

/* ---- the fine timer ---- */

/* It looks after so much real time. */
static void look_after(struct agent_thread *thread, uint64_t now, uint64_t ns) {
    struct trigger *t = &thread->trigger;
    t->look_time = now + ns;
    if (t->naps.point_ns == 0)
        ticker_run_at(thread_fine_timer(thread), t->look_time, 0);
}

static void look_later(struct agent_thread *thread, struct moment now) {
    look_after(thread, now.time_ns,
               tick_course_patience(&thread->trigger.kernel_ticks, now.cpu_ns, now.time_ns));
}

/* A tick that has come since our signal was open may have put points of the CPU clock in the place
 * of all this: they have lost their timer then. */
static void set_fine(struct agent_thread *thread, uint64_t time) {
    struct trigger *t = &thread->trigger;
    ticker_run_at(thread_fine_timer(thread), time, 0);
    if (hcct_unlikely(!t->kernel_ticks.on))
        burst_aim(thread, &t->plan, burst_now(), 1);
}

/* What the agent has taken for a timer from `since` on: time of its own. */
static uint64_t taken_since(struct agent_thread *thread, uint64_t since) {
    struct trigger *t = &thread->trigger;
    uint64_t ns = ticker_now(CLOCK_MONOTONIC) - since;
    ns = ns < OWN_MOST_NS ? ns : OWN_MOST_NS;
    t->own_ns += ns;
    tick_course_leave_out(&t->kernel_ticks, ns);
    return ns;
}

/* It comes at the stretch's point, which is yet to come. How long that will take is known from the
 * last time: a timer that has expired by then would meet the agent. */
static void aim(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    uint64_t least = now.time_ns + t->aim_ns + t->aim_ns / 4 + RETURN_NS;
    t->naps.point_ns += t->aim_ns;
    t->put_off = false;
    t->earliest_ns = now.time_ns + (t->naps.point_ns - now.cpu_ns);
    uint64_t at = t->earliest_ns - thread->late_ns;
    set_fine(thread, at > least ? at : least);
    t->aim_ns = (uint32_t)taken_since(thread, now.time_ns);
}

/* The stretch has no point any more. */
static void drop_point(struct agent_thread *thread) {
    thread->trigger.naps.point_ns = 0;
    if (!thread->trigger.put_off)
        set_fine(thread, thread->trigger.look_time);
}

/* ---- beginning and end ---- */

bool kernel_ticks_have_points(const struct agent_thread *thread) {
    const struct sampling_plan *plan = &thread->trigger.plan;
    return thread == thread_self && plan_is_endless(plan) && plan->fine_ns < ticker_resolution();
}

void kernel_ticks_begin(struct agent_thread *thread, const struct sampling_plan *plan,
                        struct moment now) {
    struct trigger *t = &thread->trigger;
    burst_leave_cpu_timer(thread);
    tick_course_begin(&t->kernel_ticks, all(), ticker_resolution(),
                      plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns, now.cpu_ns,
                      now.time_ns);
    if (kernel_ticks_have_points(thread))
        nap_course_begin(&t->naps, plan->fine_ns, &thread->random);
    else
        nap_course_end(&t->naps);
    t->earliest_ns = UINT64_MAX;
    t->asleep_ns = 0;
    ticker_run(thread_cpu_timer(thread), 1, 1);
    look_later(thread, now);
}

/* What another thread has worked since its last tick is not asked for. */
void kernel_ticks_end(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (t->kernel_ticks.on && thread == thread_self)
        tick_course_end(&t->kernel_ticks, all(), ticker_now(CLOCK_THREAD_CPUTIME_ID));
    t->kernel_ticks.on = false;
    nap_course_end(&t->naps);
}

/* Points are looked for again from here on. Their clock has stood still. */
static void leave(struct agent_thread *thread, const struct sampling_plan *plan,
                  struct moment now) {
    struct trigger *t = &thread->trigger;
    points_put_off(&t->points, tick_course_end(&t->kernel_ticks, all(), now.cpu_ns));
    nap_course_end(&t->naps);
    burst_watch(thread, plan, now, 1);
}

/* ---- samples ---- */

/* Ticks that are no more than points are thinned to these. */
static uint64_t thinned(struct agent_thread *thread, const struct sampling_plan *plan,
                        uint64_t weight) {
    struct trigger *t = &thread->trigger;
    uint64_t least = plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns;
    if (t->kernel_ticks.part_ns < t->kernel_ticks.tick_ns)
        return weight;
    return thinning_weight(&t->thinned, weight, least, &thread->random);
}

static void meet(struct agent_thread *thread, struct wire_session *session,
                 const struct sampling_plan *plan, struct moment now, uint32_t parts,
                 const struct sleep_call *call, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    bool waited = call != NULL && t->naps.point_ns == 0;
    uint64_t weight = tick_course_meet(&t->kernel_ticks, all(), parts, now.cpu_ns, waited);
    if (t->naps.point_ns != 0)
        nap_course_weighed(&t->naps, weight, plan->fine_ns);
    t->cpu_ns = now.cpu_ns;
    thread->burst_sent = 0; /* this sample is of none */
    burst_weigh(thread, session, thinned(thread, plan, weight), call, uc);
    if (!t->kernel_ticks.on)
        return; /* it has attached, and has another plan */
}

/* The end is at a time that no sample decides about. */
static void look_or_end(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    uint64_t tick = ticker_resolution();
    if (!t->kernel_ticks.on)
        return;
    if (tick_course_is_over(&t->kernel_ticks, now.cpu_ns))
        look_after(thread, now.time_ns, 1 + draw_word(&thread->random) % (2 * tick));
    else
        look_later(thread, now);
}

/* A tick that has waited for the end of a call came somewhere in it; where that was a nap the next
 * stretch has begun by now. All of the call that is behind the span began there, or at the span's
 * end. */
static bool waited_in_span(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    const struct nap_stretch *stretch = t->napped ? &t->naps.before : &t->naps.now;
    uint64_t end = t->napped ? t->naps.now.began_ns : now.cpu_ns;
    if (t->call_age_ns >= stretch->span_ns)
        return false;
    if (nap_stretch_spans(stretch, end))
        return true;
    uint64_t all_of = end - stretch->began_ns, behind = all_of - stretch->span_ns;
    t->kernel_ticks.call_ns = end - behind;
    return draw_below(draw_word(&thread->random), all_of - t->call_age_ns) >= behind;
}

static bool is_in_span(struct agent_thread *thread, struct moment now,
                       const struct sleep_call *call) {
    struct trigger *t = &thread->trigger;
    if (t->naps.span_ns == 0)
        return false;
    return call != NULL ? waited_in_span(thread, now) : nap_stretch_spans(&t->naps.now, now.cpu_ns);
}

void kernel_ticks_met(struct agent_thread *thread, struct wire_session *session,
                      const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    const struct sleep_call *call = sleep_call_at(uc);
    struct moment now = burst_now();
    if (is_in_span(thread, now, call))
        return;
    t->naps.point_ns = 0; /* it would have been before */
    meet(thread, session, plan, now,
         tick_course_parts(&t->kernel_ticks, draw_word(&thread->random)), call, uc);
    if (t->naps.span_ns != 0) /* it computes */
        tick_course_enough(&t->kernel_ticks, now.cpu_ns);
    look_or_end(thread, now);
}

static void meet_point(struct agent_thread *thread, struct wire_session *session,
                       const struct sampling_plan *plan, struct moment now, ucontext_t *uc) {
    meet(thread, session, plan, now, 1, sleep_call_at(uc), uc);
    thread->trigger.naps.point_ns = 0;
    look_or_end(thread, now);
}

/* A timer that is too early has met a thread that has waited for a processor, or slept: unseen, or
 * in a call whose end looks for the point. In the former case what it may be disturbed by grows. */
static void aim_again(struct agent_thread *thread, struct moment now, const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t asleep = now.time_ns - t->earliest_ns;
    if (sleep_is_in(&thread->open_call, uc)) {
        t->put_off = true;
        set_fine(thread, t->look_time);
        return;
    }
    aim(thread, now);
    if (interrupted_in_call(uc) && t->naps.point_ns < now.cpu_ns + asleep)
        set_fine(thread, now.time_ns + asleep);
}

static void look_for_point(struct agent_thread *thread, struct wire_session *session,
                           const struct sampling_plan *plan, ucontext_t *uc) {
    uint64_t point = thread->trigger.naps.point_ns;
    struct moment now = burst_now();
    if (burst_is_early(thread, now, point)) {
        aim_again(thread, now, uc);
        return;
    }
    burst_learn_late(thread, now, point, uc);
    meet_point(thread, session, plan, now, uc);
}

/* Whether the kernel's ticks meet the thread, and whether that is over: not where one has met it,
 * or the last one would have what comes after it twice. */
static void look(struct agent_thread *thread, const struct sampling_plan *plan,
                 const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    bool avoids = tick_course_avoids(&t->kernel_ticks, now.cpu_ns);
    t->avoids_ticks |= avoids;
    if (avoids || (tick_course_is_over(&t->kernel_ticks, now.cpu_ns) && !interrupted_in_call(uc)))
        leave(thread, plan, now);
    else
        look_later(thread, now);
}

void kernel_ticks_fine(struct agent_thread *thread, struct wire_session *session,
                       const struct sampling_plan *plan, ucontext_t *uc) {
    if (thread->trigger.naps.point_ns != 0)
        look_for_point(thread, session, plan, uc);
    else
        look(thread, plan, uc);
}

bool kernel_ticks_due(const struct agent_thread *thread, uint64_t within) {
    const struct trigger *t = &thread->trigger;
    return t->kernel_ticks.on &&
           (t->own_weight != 0 ||
            (t->naps.point_ns != 0 &&
             ticker_now(CLOCK_THREAD_CPUTIME_ID) + within >= t->naps.point_ns));
}

void kernel_ticks_catch(struct agent_thread *thread, struct wire_session *session, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t own = t->own_weight;
    t->own_weight = 0;
    if (own != 0)
        burst_weigh(thread, session, own, NULL, uc);
    else
        meet_point(thread, session, &t->plan, burst_now(), uc);
}

/* ---- calls that can sleep ---- */

/* Before the thread has its part of a session nothing is sampled here. */
static void sample_inside(struct agent_thread *thread, const struct sleep_place *place,
                          uint64_t within) {
    if (thread->stream->slot != NULL)
        edge_sample_inside(thread, place, within);
    thread->trigger.naps.point_ns = 0;
}

/* The thread's clock is dear: it is read where the stretch may be past its span by now. */
static void begin_masked(struct trigger *t, uint64_t time) {
    t->call_age_ns = time - t->naps.now.began_time;
    if (t->call_age_ns >= t->naps.now.span_ns)
        t->kernel_ticks.call_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
}

void kernel_ticks_call_begins(struct agent_thread *thread, size_t which,
                              const struct sleep_place *place, uint64_t time, bool masked) {
    struct trigger *t = &thread->trigger;
    if (masked)
        begin_masked(t, time);
    if (hcct_likely(t->naps.point_ns == 0))
        return;
    if (time >= t->earliest_ns && kernel_ticks_due(thread, 0)) {
        sample_inside(thread, place, 0);
    } else if (t->naps_in[which]) {
        t->put_off = true;
        set_fine(thread, t->look_time);
        if (t->naps.point_ns != 0)
            t->naps.point_ns += taken_since(thread, time);
    }
}

/* What the agent has taken of the thread's time is its own, called from where the call was. */
static void credit_own(struct agent_thread *thread, const struct sleep_place *place) {
    struct trigger *t = &thread->trigger;
    struct sleep_place here = *place;
    if (t->own_ns < t->plan.fine_ns / OWN_PARTS || thread->stream->slot == NULL)
        return;
    t->own_weight = thinning_weight(&t->own_thinned, t->own_ns, t->plan.fine_ns, &thread->random);
    t->own_ns = 0;
    here.pc = (uintptr_t)kernel_ticks_call_ends;
    here.call = 0;
    if (t->own_weight != 0)
        edge_sample_inside(thread, &here, 0);
    t->own_weight = 0;
}

/* The point of a stretch that a nap is the end of was not reached, or is the nap's. */
static void end_call(struct agent_thread *thread, const struct sleep_place *place, uint64_t time,
                     bool slept) {
    struct trigger *t = &thread->trigger;
    if (!slept && !t->put_off && time < t->earliest_ns)
        return;
    struct moment now = burst_now();
    if (now.cpu_ns >= t->naps.point_ns)
        sample_inside(thread, place, 0);
    else if (slept)
        drop_point(thread);
    else
        aim(thread, now);
}

/* No tick comes between: it would set the timers, too. */
static void leave_here(struct agent_thread *thread, struct moment now) {
    uint64_t before;
    if (!signal_block_all(&before))
        return;
    if (thread->trigger.kernel_ticks.on)
        leave(thread, &thread->trigger.plan, now);
    signal_put_back(before);
}

static void begin_stretch(struct agent_thread *thread, const struct sleep_place *place) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    uint64_t at = nap_course_stretch(&t->naps, now.cpu_ns, now.time_ns, &thread->random);
    if (nap_course_is_over(&t->naps)) {
        leave_here(thread, now);
        return;
    }
    if (at == NAP_NO_POINT)
        return;
    t->naps.point_ns = now.cpu_ns + at;
    if (at <= CALL_END_NS)
        sample_inside(thread, place, CALL_END_NS);
    else
        aim(thread, now);
}

void kernel_ticks_call_ends(struct agent_thread *thread, size_t which,
                            const struct sleep_place *place, uint64_t time, bool slept) {
    struct trigger *t = &thread->trigger;
    t->naps_in[which] = t->napped = slept;
    if (t->naps.point_ns != 0)
        end_call(thread, place, time, slept);
    credit_own(thread, place);
    if (slept && t->naps.span_ns != 0)
        begin_stretch(thread, place);
}
