/*
 * burst.c - walks due at points of the thread's CPU time, looked for at ticks of real time.
 *
 * The points are drawn by interval.h on the CPU clock, and each weighs its step. A tick that comes
 * before the next point (the thread has slept, or waited for a processor) makes no walk: it sets
 * the timer to what is left. So there are as many walks to a second of CPU time as were asked for,
 * wherever the program calls, sleeps or waits. A point that is reached in a call with our signal
 * blocked (wrap_sleep.h) is found at the end of that call, and weighs the call.
 *
 * Where there is no fine timer is a gap: a thread that begins, and one that has slept in a call
 * that is not wrapped. It ends at a tick of the kernel, which weighs what the points after it can
 * not: doc/sampling.md.
 */
#include "preload/burst.h"

#include "preload/draw.h"
#include "preload/interrupted.h"
#include "preload/modules.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/wall.h"
#include "preload/wrap_sleep.h"

/* Two ticks in a row have met a thread asleep if both found it in a system call, with less than one
 * part of a step in so many of the processor between them. */
#define ASLEEP_BELOW 8
#define INNER_FRAMES 4     /* that are searched for a call that is about to sleep */
#define EARLY_NS     2000  /* a tick so much before its point is in time */
#define LATE_NS      20000 /* one so much behind it says that the timer has lost the CPU clock */
/* Points that have the same step, where a thread computes: the timer goes on by itself. */
#define BLOCK        16
#define NAPS         4  /* early ticks in a block: the next blocks have one point each */
#define PERIODS_LATE 10 /* bursts may be: more are dropped */
#define POINTS_MAX   64 /* that are found at one tick and drawn one by one */

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
    sampling_walk(thread, session, uc);
}

static uint64_t word(struct agent_thread *thread) {
    return draw_word(&thread->random);
}

static void draw_words(struct agent_thread *thread, uint64_t words[INTERVAL_WORDS]) {
    for (int i = 0; i < INTERVAL_WORDS; i++)
        words[i] = word(thread);
}

/* Many naps make the timer be set again and again: then each step may be drawn by itself. Decided
 * for the next blocks when a pair of them is over: where it is decided within a block, short steps
 * live longer. */
static uint32_t block(struct trigger *t) {
    if (interval_is_over(&t->steps)) {
        t->naps = t->early >= NAPS || (t->naps && t->early > 0);
        t->early = 0;
    }
    return t->naps ? 1 : BLOCK;
}

/* The timer, to the next point or the end. */
static void aim(struct agent_thread *thread, uint64_t now) {
    struct trigger *t = &thread->trigger;
    uint64_t rest = t->due_ns > now ? t->due_ns - now : 1;
    t->expiry_ns = ticker_now(CLOCK_MONOTONIC) + rest;
    ticker_run(fine(thread), rest, t->steps.step_ns);
}

static uint64_t now_of(const struct agent_thread *thread) {
    return ticker_now(ticker_cpu_clock(thread->tid));
}

/* From `since` on, which is not later than now, there are points. */
static void cover(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                  uint64_t now) {
    struct trigger *t = &thread->trigger;
    uint64_t words[INTERVAL_WORDS];
    draw_words(thread, words);
    t->due_ns = since + interval_begin(&t->steps, plan->fine_ns, t->naps ? 1 : BLOCK, words);
    t->end_ns = plan_is_endless(plan) ? SAMPLING_ENDLESS : since + plan->length_ns;
    t->fine_in_call = false;
    t->early = 0;
    if (t->due_ns >= t->end_ns)
        return; /* a burst without a point */
    aim(thread, now);
    sleep_burst |= SLEEP_MASKED;
}

static void weigh(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                  const ucontext_t *uc) {
    if (weight == 0)
        return;
    thread->owed_ns += weight;
    sampling_walk(thread, session, uc);
}

/* The CPU timer, to the next burst: at the next tick of the kernel, where it is late already. */
static void await_burst(struct agent_thread *thread, const struct sampling_plan *plan,
                        uint64_t now) {
    struct trigger *t = &thread->trigger;
    if (t->next_ns + PERIODS_LATE * plan->coarse_ns < now)
        t->next_ns = now;
    ticker_run(&t->ticker[TRIGGER_CPU], t->next_ns > now ? t->next_ns - now : 1, plan->coarse_ns);
}

static bool has_fine_timer(struct agent_thread *thread, struct wire_session *session,
                           const struct sampling_plan *plan) {
    return plan->perf_ns == 0 && SLEEP_IS_WRAPPED && burst_get_timer(thread, session);
}

void burst_plan(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since) {
    struct trigger *t = &thread->trigger;
    uint64_t words[INTERVAL_WORDS];
    uint64_t now = now_of(thread);
    if (since > now)
        since = now;
    t->gap_ns = t->cpu_ns = t->next_ns = since;
    t->naps = false;
    if (agent.settings.collector != WIRE_COLLECT_CALLS && plan_is_endless(plan) &&
        has_fine_timer(thread, session, plan)) {
        ticker_halt(&t->ticker[TRIGGER_CPU]);
        cover(thread, plan, since, now);
        return;
    }
    if (!plan_is_endless(plan)) {
        draw_words(thread, words);
        t->next_ns += interval_begin(&t->bursts, plan->coarse_ns, 1, words);
    }
    await_burst(thread, plan, now);
}

/* What a tick of the kernel weighs that begins a burst: what the burst's points can not, as they
 * would have to lie in a burst from before the gap's beginning. */
static uint64_t start_weight(const struct trigger *t, const struct sampling_plan *plan,
                             uint64_t now) {
    uint64_t length = plan_is_endless(plan) ? plan->coarse_ns : plan->length_ns,
             gap = now - t->gap_ns;
    if (gap >= length)
        return 0;
    return (uint64_t)((unsigned __int128)plan->coarse_ns * (length - gap) / length);
}

void burst_begin(struct agent_thread *thread, struct wire_session *session,
                 const struct sampling_plan *plan, const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    if (plan->perf_ns != 0)
        sampling_account(thread); /* the event's walks take what is owed */
    if (task_clock_runs(thread, session, plan))
        return;
    if (!SLEEP_IS_WRAPPED || !burst_get_timer(thread, session)) {
        if (plan->perf_ns == 0)
            sampling_account(thread);
        sampling_walk(thread, session, uc);
        ticker_run(&t->ticker[TRIGGER_CPU], plan->coarse_ns, plan->coarse_ns);
        return;
    }
    uint64_t now = t->cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (plan_is_endless(plan)) {
        ticker_halt(&t->ticker[TRIGGER_CPU]);
    } else {
        t->next_ns += interval_next(&t->bursts, 1, word(thread));
        await_burst(thread, plan, now);
    }
    if (runs(thread)) { /* two bursts that touch: the second follows the first */
        t->end_ns += plan->length_ns;
        return;
    }
    weigh(thread, session, start_weight(t, plan, now), uc);
    cover(thread, plan, now, now);
    struct wire_slot *slot = session_slot(thread, session);
    if (slot != NULL)
        session_count(slot, WIRE_BURSTS, 1);
}

/* The weight of the points up to `limit`, which are over then. */
static uint64_t reach(struct agent_thread *thread, const struct sampling_plan *plan,
                      uint64_t limit) {
    struct trigger *t = &thread->trigger;
    uint64_t sum = 0, far = POINTS_MAX * plan->fine_ns;
    if (limit >= t->end_ns)
        limit = t->end_ns - 1;
    if (limit >= t->due_ns && limit - t->due_ns > far) {
        sum = limit - t->due_ns - far;
        t->due_ns += sum;
    }
    while (t->due_ns <= limit) {
        sum += t->steps.step_ns;
        t->due_ns += interval_next(&t->steps, block(t), word(thread));
    }
    return plan_is_endless(plan)
               ? sum
               : (uint64_t)((unsigned __int128)sum * plan->coarse_ns / plan->length_ns);
}

static void show_and_weigh(struct agent_thread *thread, struct wire_session *session,
                           uint64_t weight, const struct sleep_call *call, bool in_call,
                           ucontext_t *uc) {
    struct sleep_shown shown;
    sleep_show(uc, call, in_call, &shown);
    weigh(thread, session, weight, uc);
    sleep_show_end(uc, &shown);
}

/* What the points up to now weigh goes to the context that the tick has met, or to a call at whose
 * end it comes; what was due before that call, to the caller. */
static void take(struct agent_thread *thread, struct wire_session *session,
                 const struct sampling_plan *plan, uint64_t now, ucontext_t *uc) {
    const struct sleep_call *call = sleep_call_at(uc);
    if (call == NULL) {
        weigh(thread, session, reach(thread, plan, now), uc);
        return;
    }
    if (call->reached_ns != 0)
        show_and_weigh(thread, session, reach(thread, plan, call->reached_ns), call, false, uc);
    show_and_weigh(thread, session, reach(thread, plan, now), call, true, uc);
}

static void stop(struct agent_thread *thread) {
    ticker_halt(fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
}

/* The thread sleeps in a call that is not wrapped: a gap begins. */
static void leave_asleep(struct agent_thread *thread, const struct sampling_plan *plan,
                         uint64_t now) {
    struct trigger *t = &thread->trigger;
    stop(thread);
    t->gap_ns = now;
    if (plan_is_endless(plan))
        t->next_ns = now;
    await_burst(thread, plan, now);
}

static void too_early(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t now,
                      const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    bool in_call = interrupted_in_call(uc);
    t->early++;
    if (in_call && t->fine_in_call && now - t->cpu_ns < t->steps.step_ns / ASLEEP_BELOW) {
        leave_asleep(thread, plan, now);
        return;
    }
    t->fine_in_call = in_call;
    t->cpu_ns = now;
    aim(thread, now);
}

void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t expiries, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    thread->walk_price_ns = 0;
    if (!runs(thread) || plan->fine_ns == 0)
        return; /* it was under way when the burst ended */
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID), due = t->due_ns, step = t->steps.step_ns;
    t->expiry_ns += expiries * fine(thread)->period_ns;
    if (now + EARLY_NS < due) {
        too_early(thread, plan, now, uc);
        return;
    }
    t->fine_in_call = false;
    t->cpu_ns = now;
    take(thread, session, plan, now > due ? now : due, uc);
    if (t->due_ns >= t->end_ns)
        stop(thread);
    else if (t->steps.step_ns != step || t->naps || expiries > 1 || now > due + LATE_NS)
        aim(thread, now);
}

/* Where the tick of a point that was reached before the call is still on its way. */
static uint64_t reached_before(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (!runs(thread) || ticker_now(CLOCK_MONOTONIC) < t->expiry_ns)
        return 0;
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return now >= t->due_ns ? now : 0;
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
    call->mask = 1ull << (ours - 1);
    call->reached_ns = reached_before(thread);
}

void burst_end(struct agent_thread *thread) {
    if (runs(thread))
        stop(thread);
}
