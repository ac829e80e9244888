/*
 * burst.c - walks due at points of the thread's CPU time, looked for at each tick of real time.
 *
 * A tick that comes before the next walk is due (the thread had to wait for a processor) makes no
 * walk, and after one that comes too late for a walk the next ones come sooner, so there are as
 * many walks to a second of CPU time as were asked for, however many threads share the processors
 * and whatever else they are busy with.
 */
#include "preload/burst.h"

#include "preload/interrupted.h"
#include "preload/modules.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/wrap_sleep.h"

/* A tick meets a thread asleep if it is in a system call, and had less than one part in so many of
 * the processor since the last one, or was in a call then, too. */
#define ASLEEP_BELOW 8
#define INNER_FRAMES 4 /* that are searched for a call that is about to sleep */

static struct ticker *fine(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

static bool runs(struct agent_thread *thread) {
    return fine(thread)->period_ns != 0;
}

/* In the agent's stub, which has just ended a burst, or in the function behind it. */
bool burst_about_to_sleep(const struct agent_thread *thread) {
    const struct memo *memo = &thread->memo;
    for (uint32_t i = 1; i <= INNER_FRAMES && i <= memo->depth; i++) {
        uint64_t routine = memo->frame[memo->depth - i].frame.routine;
        if (modules_is_agent(routine) || sleep_is_sleeper(routine))
            return true;
    }
    return memo->depth == 0; /* not known */
}

bool burst_get_timer(struct agent_thread *thread, struct wire_session *session) {
    struct trigger *t = &thread->trigger;
    if (fine(thread)->made)
        return true;
    if (t->fine_refused)
        return false;
    t->fine_refused = !ticker_make(fine(thread), CLOCK_MONOTONIC, signal_number(), thread->tid);
    if (t->fine_refused)
        atomic_fetch_add(&session->fine_refused, 1);
    return !t->fine_refused;
}

/* The CPU timer comes seldom then, to notice when the event is gone. */
#define WATCH_NS SECOND_NS

/* True: the task clock event does what the fine timer would do. */
static bool task_clock_runs(struct agent_thread *thread, struct wire_session *session,
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
    if (!task_clock_open(&t->task_clock, signal_number(), thread->tid, plan->perf_ns)) {
        atomic_fetch_add(&session->perf_refused, 1);
        return false;
    }
    t->task_clock_seen_ns = t->cpu_ns;
    ticker_run(&t->ticker[TRIGGER_CPU], WATCH_NS, WATCH_NS);
    return true;
}

void burst_task_clock_tick(struct agent_thread *thread, struct wire_session *session,
                           const ucontext_t *uc) {
    sampling_account(thread);
    thread->trigger.task_clock_seen_ns = thread->trigger.cpu_ns;
    sampling_walk(thread, session, 1, uc);
}

static uint64_t parts_left(const struct trigger *t, const struct sampling_plan *plan) {
    if (plan->length_ns == SAMPLING_ENDLESS || t->end_ns <= t->cpu_ns)
        return 1;
    return 1 + (t->end_ns - t->cpu_ns) / plan->fine_ns;
}

void burst_begin(struct agent_thread *thread, struct wire_session *session,
                 const struct sampling_plan *plan, const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    if (task_clock_runs(thread, session, plan))
        return;
    bool endless = plan->length_ns == SAMPLING_ENDLESS, timer = burst_get_timer(thread, session);
    t->fine_in_call = false;
    t->begin_ns = t->cpu_ns;
    t->due_ns = t->cpu_ns + plan->fine_ns;
    t->end_ns = endless ? SAMPLING_ENDLESS : t->cpu_ns + plan->length_ns;
    sampling_walk(thread, session, timer ? parts_left(t, plan) : 1, uc);
    if (!timer || !SLEEP_IS_WRAPPED || burst_about_to_sleep(thread))
        return;
    ticker_halt(&t->ticker[TRIGGER_CPU]);
    ticker_run(fine(thread), plan->fine_ns, plan->fine_ns);
    sleep_burst |= SLEEP_ANY;
    if (thread->slot != NULL)
        session_count(thread->slot, WIRE_BURSTS, 1);
}

/* A tick makes one walk. Those that it came too late for are made up for, so many of them at most,
 * by ticks that come sooner. */
#define ARREARS_MAX 16

static uint64_t next_due(uint64_t due, uint64_t now, uint64_t step) {
    return now - due < ARREARS_MAX * step ? due + step : now + step;
}

static void keep_pace(struct agent_thread *thread, const struct sampling_plan *plan) {
    uint64_t step = plan->fine_ns;
    uint64_t period = thread->trigger.cpu_ns < thread->trigger.due_ns ? step : step - step / 4;
    if (fine(thread)->period_ns != period)
        ticker_run(fine(thread), period, period);
}

void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t before = t->cpu_ns;
    if (!runs(thread) || plan->fine_ns == 0)
        return; /* it was under way when the burst ended */
    sampling_account(thread);
    bool in_call = interrupted_in_call(uc), again = in_call && t->fine_in_call;
    t->fine_in_call = in_call;
    if (again || (in_call && t->cpu_ns - before < plan->fine_ns / ASLEEP_BELOW)) {
        burst_end(thread);
        return;
    }
    if (t->cpu_ns >= t->due_ns) {
        sampling_walk(thread, session, parts_left(t, plan), uc);
        t->due_ns = next_due(t->due_ns, t->cpu_ns, plan->fine_ns);
        keep_pace(thread, plan);
    }
    if (t->cpu_ns >= t->end_ns)
        burst_end(thread);
}

/* CPU time to the next burst. One that is meant to go on begins again with the kernel's next tick.
 */
static uint64_t pause_ns(struct trigger *t) {
    uint64_t length = t->end_ns - t->begin_ns;
    if (t->end_ns == SAMPLING_ENDLESS || length >= t->plan.coarse_ns)
        return 1;
    return sampling_pause(t->plan.coarse_ns - length, t->cpu_ns);
}

void burst_end(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (!runs(thread))
        return;
    ticker_halt(fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_ANY;
    ticker_run(&t->ticker[TRIGGER_CPU], pause_ns(t), t->plan.coarse_ns);
}
