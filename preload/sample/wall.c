/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall.c - walks due at points of a thread's real time, looked for at ticks of it.
 *
 * The points are drawn by interval.h on CLOCK_MONOTONIC, and the timer is set to the next one,
 * which meets the thread wherever it is: so no point is missed, and each weighs its step. The CPU
 * timer does not run. Where only sleep is asked for (off_only) the clock is real time less CPU
 * time, which stands still while the thread runs: there the tick comes too early where the thread
 * has computed meanwhile, and the timer is set to what is left then.
 *
 * In a sleep that has lasted for long the next check is put off, by a part of that sleep so far.
 * All points up to the check are credited to the sleep if it still lasts then. If it has ended, and
 * the thread has not slept since, the points were in it as well: that is found out at the thread's
 * next CPU tick, before its next call that may sleep, or at its end. If it has slept elsewhere
 * since, half of the time since the last check is credited to that sleep and the rest to what the
 * check finds: doc/sampling.md. The end of the sleep lies as far back as the thread has computed
 * since: so the clock of the points stands still for it there, and what it has computed is in the
 * gap's law (end_gap).
 */
#include "preload/sample/wall.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/draw.h"
#include "preload/sample/emit.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/thread_timer.h"
#include "preload/wrap/sleep.h"

#define SLOWEST_NS SECOND_NS /* between two checks of a thread that sleeps on */
#define SLEEP_PART 8         /* of a sleep so far: until it is checked next */
#define EARLY_NS   100000    /* a second check of a sleep may come so much before its point, ... */
#define EARLY_PART 16        /* ... but no more than this part of a step */
#define POINTS_MAX 64        /* that are found at one check and drawn one by one */

static struct ticker *ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_WALL];
}

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

static uint64_t sleeps(void) {
    struct rusage usage = {0};
    sys2(SYS_getrusage, RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw;
}

/* The clock of the points. Where it stands still while the thread runs, what passes between the two
 * readings, if the thread has to wait there, counts. Never before the last check. */
static uint64_t clock_ns(const struct trigger *t) {
    uint64_t cpu = t->wall.off_only || t->wall.gap ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    uint64_t time = ticker_now(CLOCK_MONOTONIC), stood = wall_stood_ns(t, cpu);
    return time > stood && time - stood > t->wall.checked_ns ? time - stood : t->wall.checked_ns;
}

static void run(struct agent_thread *thread, uint64_t wait_ns) {
    ticker_run(ticker(thread), wait_ns > 0 ? wait_ns : 1, thread->trigger.wall.steps.mean_ns);
}

static uint64_t until_due(const struct trigger *t, uint64_t now) {
    return t->wall.due_ns > now ? t->wall.due_ns - now : 0;
}

/* The timer expires at the next point, or before it where the clock may stand still. Not in a gap:
 * what a walk has taken is no reason to be late. */
static void aim(struct agent_thread *thread, uint64_t now) {
    const struct trigger *t = &thread->trigger;
    if (t->wall.off_only)
        run(thread, until_due(t, now));
    else
        ticker_run_at(ticker(thread), t->wall.due_ns + t->wall.gaps_ns, t->wall.steps.mean_ns);
}

static bool make_timer(struct agent_thread *thread, struct wire_session *session) {
    struct trigger *t = &thread->trigger;
    if (t->fine_refused)
        return false;
    t->fine_refused = !thread_timer_make(thread, TRIGGER_WALL, CLOCK_MONOTONIC);
    if (t->fine_refused && session != NULL)
        atomic_fetch_add(&session->fine_refused, 1);
    return !t->fine_refused;
}

/* CPU time from `since` on that has passed. */
static uint64_t unseen_ns(uint64_t since) {
    uint64_t cpu = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return since < cpu ? cpu - since : 0;
}

bool wall_begin(struct agent_thread *thread, struct wire_session *session,
                const struct sampling_plan *plan, uint64_t since) {
    struct trigger *t = &thread->trigger;
    uint64_t words[INTERVAL_WORDS];
    if (ticker(thread)->made)
        return wall_has_all(thread);
    if (!make_timer(thread, session))
        return false;
    if (session != NULL)
        session_expect_slots(session); /* its first sample may be taken when the process ends */
    for (int i = 0; i < INTERVAL_WORDS; i++)
        words[i] = draw_word(&thread->random);
    t->wall.off_only = plan->off_only;
    uint64_t now = t->wall.checked_ns = clock_ns(t);
    uint64_t begins = t->wall.off_only ? now : now - unseen_ns(since);
    t->wall.due_ns = begins + interval_begin(&t->wall.steps, plan->wall_ns, 1, words);
    sleep_burst |= SLEEP_FRAGILE;
    if (!t->wall.off_only) {
        t->first.pending = false;
        ticker_halt(cpu_ticker(thread));
    }
    aim(thread, now);
    return !t->wall.off_only;
}

/* Not all threads at once. */
void wall_ask(struct agent_thread *thread, uint64_t ns) {
    if (ticker(thread)->made || !thread_timer_make(thread, TRIGGER_WALL, CLOCK_MONOTONIC))
        return;
    sleep_burst |= SLEEP_FRAGILE;
    ticker_run(ticker(thread), interval_draw(ns, draw_word(&thread->random)), ns);
}

/* The weight of the points up to `limit`, which are over then. */
static uint64_t reach(struct agent_thread *thread, uint64_t limit) {
    struct trigger *t = &thread->trigger;
    uint64_t sum = 0, far = POINTS_MAX * t->wall.steps.mean_ns;
    if (limit > t->wall.due_ns + far) {
        sum = limit - t->wall.due_ns - far;
        t->wall.due_ns += sum;
    }
    while (t->wall.due_ns <= limit) {
        sum += t->wall.steps.step_ns;
        t->wall.due_ns += interval_next(&t->wall.steps, 1, draw_word(&thread->random));
    }
    return sum;
}

uint64_t wall_due(struct agent_thread *thread) {
    return ticker(thread)->period_ns != 0 ? reach(thread, clock_ns(&thread->trigger)) : 0;
}

/* The sleep that the last check met may have ended. */
static bool slept_elsewhere(const struct trigger *t) {
    return sleeps() - t->wall.sleeps > 1;
}

/* The points up to `limit` were in the sleep that the last check met and that is over now. */
static void credit_sleep(struct agent_thread *thread, uint64_t limit) {
    struct trigger *t = &thread->trigger;
    struct wire_slot *slot = thread->stream->slot;
    bool known = t->wall.late && t->wall.asleep && slot != NULL && emit_can_repeat(thread, slot);
    t->wall.late = t->wall.asleep = false;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    uint64_t weight = known ? reach(thread, limit) : 0;
    if (weight != 0 && emit_repeat(thread, slot, weight))
        session_count(slot, WIRE_CREDITED_NS, weight);
}

/* The check of a sleep is put off: what the thread computes once that is over has no points, until
 * the kernel's next tick that meets it, at the latest. */
static void begin_gap(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (t->wall.off_only)
        return;
    t->wall.gap = true;
    t->wall.switches = thread_switches();
    ticker_run(cpu_ticker(thread), 1, t->plan.coarse_ns);
    t->wall.gap_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
}

/* `same`: the sleep goes on, and what was used in the gap was the check's. */
static void end_gap(struct agent_thread *thread, bool same) {
    struct trigger *t = &thread->trigger;
    if (!t->wall.gap)
        return;
    t->wall.gap = false;
    if (!same)
        t->wall.gaps_ns += ticker_now(CLOCK_THREAD_CPUTIME_ID) - t->wall.gap_ns;
    ticker_halt(cpu_ticker(thread));
}

/* What the kernel's tick weighs that ends a gap: doc/sampling.md. */
static uint64_t gap_weight(const struct trigger *t) {
    if (!t->wall.gap)
        return 0;
    uint64_t used = ticker_now(CLOCK_THREAD_CPUTIME_ID) - t->wall.gap_ns;
    uint64_t left = thread_switches() - t->wall.switches; /* once to sleep, at the beginning */
    return draw_start_weight(ticker_resolution(), used / (left > 1 ? left : 1));
}

/* Up to where, when it is `now`: where the thread has slept elsewhere as well, the end of that
 * sleep may be anywhere since the last check. */
static uint64_t sleep_limit(const struct trigger *t, uint64_t now, bool elsewhere) {
    return elsewhere ? now - (now - t->wall.checked_ns) / 2 : now;
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
    uint64_t wait = until_due(t, now);
    if (t->wall.asleep)
        t->wall.cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t rest = t->wall.asleep ? (now - t->wall.since_ns) / SLEEP_PART : 0;
    t->wall.late = rest > wait;
    t->wall.checked_ns = now;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    if (!t->wall.late) {
        aim(thread, now);
        return;
    }
    /* by chance, so that what follows the sleep is not always met as late */
    rest = interval_draw(rest < SLOWEST_NS ? rest : SLOWEST_NS, draw_word(&thread->random));
    sleep_burst |= SLEEP_NEXT;
    begin_gap(thread);
    run(thread, rest > wait ? rest : wait);
}

void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    const struct sleep_call *call = sleep_call_at(uc);
    bool in_call = call == NULL && interrupted_in_call(uc);
    if (ticker(thread)->period_ns == 0)
        return; /* it was under way when the timer was given up */
    uint64_t now = clock_ns(t), switches = in_call ? sleeps() : 0;
    bool same = in_call && t->wall.in_call && switches - t->wall.sleeps <= 1;
    if (t->wall.late && !same)
        credit_sleep(thread, sleep_limit(t, now, in_call || call != NULL || slept_elsewhere(t)));
    if (t->wall.gap) {
        end_gap(thread, same);
        now = clock_ns(t);
    }
    thread->unsent_ns += reach(thread, now + tolerance(plan, same));
    bool walked = walk(thread, session, uc, call);
    if (walked && (in_call || call != NULL))
        session_count(thread->stream->slot, WIRE_ASLEEP, 1);
    t->wall.in_call = in_call;
    t->wall.asleep = in_call && walked;
    t->wall.sleeps = switches;
    if (!same)
        t->wall.since_ns = now;
    plan_check(thread, now);
}

void wall_cpu_tick(struct agent_thread *thread, struct wire_session *session,
                   const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    if (t->wall.late) {
        uint64_t now = clock_ns(t);
        credit_sleep(thread, sleep_limit(t, now, slept_elsewhere(t)));
        thread->unsent_ns += gap_weight(t);
        end_gap(thread, false);
        aim(thread, now);
    }
    t->wall.asleep = false; /* the last sample is another now */
    (void)walk(thread, session, uc, sleep_call_at(uc));
    (void)wall_begin(thread, session, plan, UINT64_MAX); /* another thread has moved the signal */
}

uint64_t wall_lose(struct agent_thread *thread, const ucontext_t *uc) {
    bool runs = sleep_call_at(uc) == NULL && !interrupted_in_call(uc);
    return runs && wall_has_all(thread) && !thread->trigger.wall.late ? wall_due(thread) : 0;
}

/* No handler may come between: it could end another sleep, or leave this function by a jump. */
void wall_awake(struct agent_thread *thread) {
    uint64_t all = signal_all(), before = 0;
    if ((sleep_burst & SLEEP_NEXT) == 0 || !agent_owns_memory() ||
        sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, KERNEL_SIGSET_BYTES) != 0)
        return;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    if (!slept_elsewhere(&thread->trigger) && session_enter(thread) != NULL) {
        uint64_t now = clock_ns(&thread->trigger);
        credit_sleep(thread, now);
        end_gap(thread, false);
        aim(thread, now);
        session_leave(thread);
    }
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, KERNEL_SIGSET_BYTES);
}

void wall_end(struct agent_thread *thread) {
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)(SLEEP_FRAGILE | SLEEP_NEXT);
    ticker_free(ticker(thread));
    memset(&thread->trigger.wall, 0, sizeof thread->trigger.wall);
}
