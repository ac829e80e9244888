/*
 * burst.c - walks due at points of the thread's CPU time, looked for at ticks of real time.
 *
 * The points are drawn by interval.h on the CPU clock, and each weighs its step. A tick that comes
 * before the next point (the thread has slept, or waited for a processor) makes no walk: it sets
 * the timer to what is left. So there are as many walks to a second of CPU time as were asked for,
 * wherever the program calls, sleeps or waits. A point that is reached in a call with our signal
 * blocked (wrap_sleep.h) is found at the end of that call, and weighs the call.
 *
 * A thread that hardly runs would make a timer of real time come early again and again. Where steps
 * are as long as the kernel's tick, its CPU timer waits for the point then, which costs nothing
 * while it sleeps, and finds the point at most a tick late.
 *
 * Where no timer waits for a point is a gap: a thread that has slept in a call that is not wrapped,
 * or was sampled by another plan. It ends at a tick of the kernel, which weighs what the points
 * after it can not: doc/sampling.md.
 */
#include "preload/burst.h"

#include "preload/draw.h"
#include "preload/interrupted.h"
#include "preload/modules.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/wall.h"
#include "preload/wrap_sleep.h"

/* A sleep in a call that is not wrapped is looked at after an eighth of the time after which the
 * thread is left, and then when it has slept twice as long. */
#define ASLEEP_STEPS  2
#define ASLEEP_MAX_NS 20000000u /* restart.c takes a call for a new one later */
#define ASLEEP_LOOKS  8
#define INNER_FRAMES  4     /* that are searched for a call that is about to sleep */
#define EARLY_NS      2000  /* a tick so much before its point is in time */
#define LATE_NS       20000 /* one so much behind it says that the timer has lost the CPU clock */
/* Points that have the same step, where a thread computes: the timer goes on by itself. Steps as
 * long as the kernel's tick are drawn one by one: setting the timer costs little beside them. */
#define BLOCK 16
#define NAPS  4 /* early ticks in a block: the next blocks have one point each */
#define NAPS_OF_STEP                                                                               \
    3 /* early ticks in a single step: the thread may be one that hardly runs ... */
#define RUNS_ABOVE      4 /* ... if it has had less than one part in so many of the processor */
#define PATIENCE        4 /* the CPU timer may take so many times longer than it should */
#define PATIENCE_MAX_NS (60 * SECOND_NS)
#define PERIODS_LATE    10 /* bursts may be: more are dropped */
#define POINTS_MAX      64 /* that are found at one tick and drawn one by one */

static struct ticker *fine(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_FINE];
}

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

/* A timer waits for the next point. */
static bool runs(struct agent_thread *thread) {
    return fine(thread)->period_ns != 0 || thread->trigger.by_cpu_timer;
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
    if (t->fine_refused && session != NULL)
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
    ticker_run(cpu_ticker(thread), WATCH_NS, WATCH_NS);
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

static bool has_long_steps(const struct sampling_plan *plan) {
    return plan->fine_ns >= ticker_resolution();
}

/* Many naps make the timer be set again and again: then each step may be drawn by itself. Decided
 * for the next blocks when a pair of them is over: where it is decided within a block, short steps
 * live longer. */
static uint32_t block(struct trigger *t, const struct sampling_plan *plan) {
    if (interval_is_over(&t->steps)) {
        t->naps = t->early >= NAPS || (t->naps && t->early > 0);
        t->early = 0;
    }
    return t->naps || has_long_steps(plan) ? 1 : BLOCK;
}

static void use_fine_timer(struct agent_thread *thread, uint64_t time, uint64_t rest) {
    thread->trigger.expiry_ns = time + rest;
    ticker_run(fine(thread), rest, thread->trigger.steps.step_ns);
}

/* The fine timer only watches that the kernel's ticks meet the thread at all. */
static void use_cpu_timer(struct agent_thread *thread, const struct sampling_plan *plan,
                          uint64_t rest, uint64_t patience) {
    struct trigger *t = &thread->trigger;
    t->by_cpu_timer = true;
    ticker_run(cpu_ticker(thread), rest, plan->coarse_ns);
    t->expiry_ns = UINT64_MAX;
    ticker_run(fine(thread), patience, patience);
}

/* A multiple of the time that the thread will need for `rest` of CPU time. */
static uint64_t patience(uint64_t rest, uint64_t ran, uint64_t passed) {
    unsigned __int128 time = (unsigned __int128)PATIENCE * rest * passed / (ran + 1);
    return time < PATIENCE_MAX_NS ? (uint64_t)time : PATIENCE_MAX_NS;
}

/* The timer, to the next point or the end, but not before `least` of real time. */
static void aim(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t now,
                uint64_t least) {
    struct trigger *t = &thread->trigger;
    uint64_t rest = t->due_ns > now + least ? t->due_ns - now : least;
    uint64_t time = ticker_now(CLOCK_MONOTONIC);
    if (t->early == 0) {
        t->step_ns = time;
        t->step_cpu_ns = now;
    }
    uint64_t ran = now - t->step_cpu_ns, passed = time - t->step_ns;
    bool hardly_runs = t->early >= NAPS_OF_STEP && ran < passed / RUNS_ABOVE;
    if (hardly_runs && has_long_steps(plan) && plan_is_endless(plan) && !t->avoids_ticks)
        use_cpu_timer(thread, plan, rest, patience(rest, ran, passed));
    else
        use_fine_timer(thread, time, rest);
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
    t->early = 0;
    t->due_ns = since + interval_begin(&t->steps, plan->fine_ns,
                                       t->naps || has_long_steps(plan) ? 1 : BLOCK, words);
    t->end_ns = plan_is_endless(plan) ? SAMPLING_ENDLESS : since + plan->length_ns;
    t->asleep_ns = 0;
    if (t->due_ns >= t->end_ns)
        return; /* a burst without a point */
    aim(thread, plan, now, 1);
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
    ticker_run(cpu_ticker(thread), t->next_ns > now ? t->next_ns - now : 1, plan->coarse_ns);
}

static void begin_gap(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t at) {
    struct trigger *t = &thread->trigger;
    t->gap_ns = at;
    t->gap_switches = thread == thread_self ? thread_switches() : 0;
    if (plan_is_endless(plan))
        t->next_ns = at;
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
    t->cpu_ns = t->next_ns = since;
    t->naps = t->avoids_ticks = false;
    if (thread == thread_self && plan_is_endless(plan) && has_fine_timer(thread, session, plan)) {
        ticker_halt(cpu_ticker(thread));
        cover(thread, plan, since, now);
        return;
    }
    begin_gap(thread, plan, since);
    if (!plan_is_endless(plan)) {
        draw_words(thread, words);
        t->next_ns += interval_begin(&t->bursts, plan->coarse_ns, 1, words);
    }
    await_burst(thread, plan, now);
}

/* Ticks begin points that have no end. Where the thread came back to a processor last is not known,
 * but how often it did. Such a weight is less than that of a point: by roulette. */
static uint64_t endless_start_weight(struct agent_thread *thread, const struct sampling_plan *plan,
                                     uint64_t gap) {
    uint64_t switches = thread_switches(), before = thread->trigger.gap_switches;
    uint64_t times = switches > before ? switches - before : 0;
    uint64_t weight = draw_start_weight(ticker_resolution(), gap / (1 + times));
    return draw_roulette(word(thread), weight, plan->fine_ns);
}

/* What a tick of the kernel weighs that begins a burst: what the burst's points can not, as they
 * would have to lie in a burst from before the gap's beginning. */
static uint64_t start_weight(struct agent_thread *thread, const struct sampling_plan *plan,
                             uint64_t now) {
    uint64_t gap = now - thread->trigger.gap_ns;
    if (plan_is_endless(plan))
        return endless_start_weight(thread, plan, gap);
    if (gap >= plan->length_ns)
        return 0;
    return (uint64_t)((unsigned __int128)plan->coarse_ns * (plan->length_ns - gap) /
                      plan->length_ns);
}

static void begin(struct agent_thread *thread, struct wire_session *session,
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
        ticker_run(cpu_ticker(thread), plan->coarse_ns, plan->coarse_ns);
        return;
    }
    uint64_t now = t->cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (plan_is_endless(plan)) {
        ticker_halt(cpu_ticker(thread));
    } else {
        t->next_ns += interval_next(&t->bursts, 1, word(thread));
        await_burst(thread, plan, now);
    }
    if (runs(thread)) { /* two bursts that touch: the second follows the first */
        t->end_ns += plan->length_ns;
        return;
    }
    weigh(thread, session, start_weight(thread, plan, now), uc);
    cover(thread, plan, now, now);
    if (thread->slot != NULL)
        session_count(thread->slot, WIRE_BURSTS, 1);
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
        t->due_ns += interval_next(&t->steps, block(t, plan), word(thread));
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

/* The fine timer looks for the point again. */
static void leave_cpu_timer(struct agent_thread *thread) {
    if (!thread->trigger.by_cpu_timer)
        return;
    thread->trigger.by_cpu_timer = false;
    ticker_halt(cpu_ticker(thread));
}

static void stop(struct agent_thread *thread) {
    leave_cpu_timer(thread);
    ticker_halt(fine(thread));
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_MASKED;
}

/* The thread sleeps in a call that is not wrapped: a gap begins. */
static void leave_asleep(struct agent_thread *thread, const struct sampling_plan *plan,
                         uint64_t now) {
    stop(thread);
    begin_gap(thread, plan, now);
    await_burst(thread, plan, now);
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

/* A long sleep ends the points, as it would have to be interrupted time and again. Whether it is
 * long must not depend on how near the next point is, or near ones would be dropped more often. */
static void too_early(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t now,
                      const ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    t->early++;
    t->cpu_ns = now;
    if (!interrupted_in_call(uc)) {
        t->asleep_ns = 0;
        aim(thread, plan, now, 1);
        return;
    }
    uint64_t so_far = slept(t), limit = longest_sleep(plan), first = limit / ASLEEP_LOOKS;
    uint64_t next = so_far > first ? so_far : first;
    if (so_far >= limit)
        leave_asleep(thread, plan, now);
    else
        aim(thread, plan, now, next < limit - so_far ? next : limit - so_far);
}

/* At a point, or after it. `aims`: the timer has to be set in any case. */
static void reached(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, uint64_t now, bool aims, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    uint64_t due = t->due_ns, step = t->steps.step_ns;
    t->asleep_ns = 0;
    t->cpu_ns = now;
    take(thread, session, plan, now > due ? now : due, uc);
    if (t->due_ns >= t->end_ns)
        stop(thread);
    else if (aims || t->steps.step_ns != step || t->steps.block == 1 || now > due + LATE_NS)
        aim(thread, plan, now, 1);
}

/* The CPU timer has waited for the point. */
static void cpu_timer_tick(struct agent_thread *thread, struct wire_session *session,
                           const struct sampling_plan *plan, ucontext_t *uc) {
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    leave_cpu_timer(thread);
    if (now + EARLY_NS < thread->trigger.due_ns)
        aim(thread, plan, now, 1);
    else
        reached(thread, session, plan, now, true, uc);
}

void burst_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                    const struct sampling_plan *plan, ucontext_t *uc) {
    if (thread->trigger.by_cpu_timer)
        cpu_timer_tick(thread, session, plan, uc);
    else
        begin(thread, session, plan, uc);
}

void burst_tick(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t expiries, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    thread->walk_price_ns = 0;
    if (!runs(thread) || plan->fine_ns == 0)
        return; /* it was under way when the burst ended */
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    bool is_early = now + EARLY_NS < t->due_ns;
    if (t->by_cpu_timer && is_early)
        return; /* the thread sleeps longer than it used to */
    t->avoids_ticks |= t->by_cpu_timer;
    leave_cpu_timer(thread);
    t->expiry_ns += expiries * fine(thread)->period_ns;
    if (is_early)
        too_early(thread, plan, now, uc);
    else
        reached(thread, session, plan, now, expiries > 1, uc);
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

bool burst_is_due(struct agent_thread *thread) {
    return runs(thread) && ticker_now(CLOCK_THREAD_CPUTIME_ID) >= thread->trigger.due_ns;
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
