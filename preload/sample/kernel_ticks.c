/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kernel_ticks.c - the CPU timer comes at each tick of the kernel that meets the thread, the fine
 * one now and then, to check whether ticks do meet the thread, and whether all this is over.
 */
#include "preload/sample/kernel_ticks.h"

#include "preload/life/agent.h"
#include "preload/sample/draw.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/thread_timer.h"

static struct tick_courses *all(void) {
    return &agent.process->tick_courses;
}

static void check_later(struct agent_thread *thread, struct moment now) {
    const struct tick_course *ticks = &thread->trigger.kernel_ticks;
    ticker_run(thread_fine_timer(thread),
               tick_course_patience(ticks, ticker_resolution(), now.cpu_ns, now.time_ns), 0);
}

void kernel_ticks_begin(struct agent_thread *thread, struct moment now) {
    struct trigger *t = &thread->trigger;
    burst_leave_cpu_timer(thread);
    tick_course_begin(&t->kernel_ticks, now.cpu_ns, now.time_ns);
    t->earliest_ns = UINT64_MAX;
    t->asleep_ns = 0;
    ticker_run(thread_cpu_timer(thread), 1, 1);
    check_later(thread, now);
}

/* What another thread has worked since its last tick is not asked for. */
void kernel_ticks_end(struct agent_thread *thread) {
    struct tick_course *ticks = &thread->trigger.kernel_ticks;
    if (ticks->on && thread == thread_self)
        tick_course_end(ticks, all(), ticker_now(CLOCK_THREAD_CPUTIME_ID));
    ticks->on = false;
}

/* Where points weigh more, some ticks stand for the others. */
void kernel_ticks_met(struct agent_thread *thread, struct wire_session *session,
                      const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    uint64_t tick = ticker_resolution();
    const struct sleep_call *call = sleep_call_at(uc);
    uint64_t weight = tick_course_meet(&t->kernel_ticks, all(), tick, now.cpu_ns, call != NULL);
    uint64_t least = plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns;
    t->cpu_ns = now.cpu_ns;
    thread->burst_sent = 0; /* this sample is of none */
    burst_weigh(thread, session, thinning_weight(&t->thinned, weight, least, &thread->random), call,
                uc);
    if (!t->kernel_ticks.on)
        return; /* it has attached, and has another plan */
    if (tick_course_is_over(&t->kernel_ticks, now.cpu_ns))
        ticker_run(thread_fine_timer(thread), 1 + draw_word(&thread->random) % (2 * tick), 0);
    else
        check_later(thread, now);
}

/* Points are looked for again from here on. Their clock has stood still. */
static void leave(struct agent_thread *thread, const struct sampling_plan *plan,
                  struct moment now) {
    struct trigger *t = &thread->trigger;
    points_put_off(&t->points, tick_course_end(&t->kernel_ticks, all(), now.cpu_ns));
    burst_watch(thread, plan, now, 1);
}

/* It is not over where a tick has met the thread, or the last one would have what comes after it
 * twice. */
void kernel_ticks_check(struct agent_thread *thread, const struct sampling_plan *plan,
                        const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    struct moment now = burst_now();
    bool avoids = tick_course_avoids(&t->kernel_ticks, ticker_resolution(), now.cpu_ns);
    t->avoids_ticks |= avoids;
    if (avoids || (tick_course_is_over(&t->kernel_ticks, now.cpu_ns) && !interrupted_in_call(uc)))
        leave(thread, plan, now);
    else
        check_later(thread, now);
}

void kernel_ticks_call_begins(struct agent_thread *thread) {
    if (thread->trigger.kernel_ticks.on)
        thread->trigger.kernel_ticks.call_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
}
