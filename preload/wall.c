/*
 * wall.c - time asleep, at ticks that an idle thread sees ever more seldom.
 */
#include "preload/wall.h"

#include <string.h>
#include <sys/resource.h>

#include "preload/emit.h"
#include "preload/interrupted.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/sys.h"
#include "preload/wrap_sleep.h"

#define SLOWEST_NS SECOND_NS /* between two looks at a thread that sleeps on */
#define PATIENCE_NS                                                                                \
    (3 * SLOWEST_NS) /* so much time of sleep that no tick meets is credited anyhow */
#define SLEEP_PART 8 /* of a sleep so far: until the next look at it */

static struct ticker *ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_WALL];
}

static void run(struct agent_thread *thread, uint64_t period) {
    if (ticker(thread)->period_ns == period)
        return;
    sleep_burst |= SLEEP_FRAGILE;
    ticker_run(ticker(thread), period, period);
}

static uint64_t sleeps(void) {
    struct rusage usage = {0};
    sys2(SYS_getrusage, RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw;
}

static void start(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (t->fine_refused)
        return;
    t->fine_refused = !ticker_make(ticker(thread), CLOCK_MONOTONIC, signal_number(), thread->tid);
    t->wall.time_ns = ticker_now(CLOCK_MONOTONIC);
    t->wall.cpu_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    t->wall.sleeps = sleeps();
}

/* What has passed between two looks. */
struct interval {
    uint64_t time_ns, cpu_ns, off_ns; /* elapsed; CPU time; the rest */
    bool slept;                       /* the thread gave the processor away by itself */
    bool same_sleep; /* the call that the last look met has slept on (that look had woken it), and
                      * no other */
};

static struct interval pass(struct trigger *t) {
    uint64_t time = ticker_now(CLOCK_MONOTONIC), cpu = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t slept = sleeps(), switches = slept - t->wall.sleeps;
    struct interval last = {.time_ns = time - t->wall.time_ns,
                            .cpu_ns = cpu - t->wall.cpu_ns,
                            .slept = t->wall.in_call || switches > 0,
                            .same_sleep = t->wall.in_call && switches <= 1};
    last.off_ns = last.time_ns > last.cpu_ns ? last.time_ns - last.cpu_ns : 0;
    t->wall.time_ns = time;
    t->wall.cpu_ns = cpu;
    t->wall.sleeps = slept;
    t->wall.in_call = false;
    return last;
}

static void count(struct agent_thread *thread, enum wire_counter which, uint64_t n) {
    if (thread->slot != NULL)
        session_count(thread->slot, which, n);
}

/* The thread has slept, and does not now: the time belongs to the sleep that the last look met, or
 * else waits for one. */
static void end_sleep(struct agent_thread *thread, const struct interval *last) {
    if (last->same_sleep && thread->slot != NULL && emit_again(thread, thread->slot, last->off_ns))
        count(thread, WIRE_CREDITED_NS, last->off_ns);
    else
        thread->trigger.wall.carried_ns += last->off_ns;
}

static void credit_here(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                        const ucontext_t *uc) {
    if (weight == 0)
        return;
    thread->owed_ns += weight;
    sampling_walk(thread, session, uc);
    count(thread, WIRE_ASLEEP, 1);
}

void wall_running(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct trigger *t = &thread->trigger;
    if (!ticker(thread)->made) {
        start(thread);
    } else if (t->wall.in_call || ticker(thread)->period_ns != plan->wall_ns) {
        struct interval last = pass(t);
        end_sleep(thread, &last);
    }
}

void wall_begin(struct agent_thread *thread, const struct sampling_plan *plan) {
    if (ticker(thread)->made)
        run(thread, plan->wall_ns);
}

/* As long as it sleeps, a thread is looked at after ever longer times: a small part of the sleep.
 */
static uint64_t next_look(struct trigger *t, const struct sampling_plan *plan,
                          const struct interval *last) {
    t->wall.asleep_ns = last->same_sleep ? t->wall.asleep_ns + last->off_ns : 0;
    uint64_t next = t->wall.asleep_ns / SLEEP_PART;
    return next < plan->wall_ns ? plan->wall_ns : next < SLOWEST_NS ? next : SLOWEST_NS;
}

void wall_tick(struct agent_thread *thread, struct wire_session *session,
               const struct sampling_plan *plan, ucontext_t *uc) {
    struct trigger *t = &thread->trigger;
    if (ticker(thread)->period_ns == 0)
        return; /* it was under way when the timer was stopped: the thread is about to sleep */
    struct interval last = pass(t);
    if (interrupted_in_call(uc)) {
        credit_here(thread, session, last.off_ns + t->wall.carried_ns, uc);
        t->wall.carried_ns = 0;
        t->wall.in_call = true;
        run(thread, next_look(t, plan, &last));
        return;
    }
    if (last.slept)
        end_sleep(thread, &last);
    else /* waiting for a processor, right here */
        credit_here(thread, session, last.off_ns, uc);
    if (t->wall.carried_ns > PATIENCE_NS) {
        credit_here(thread, session, t->wall.carried_ns, uc);
        t->wall.carried_ns = 0;
    }
    run(thread, plan->wall_ns);
}

void wall_end(struct agent_thread *thread) {
    if (ticker(thread)->period_ns == 0)
        return;
    if (thread == thread_self)
        sleep_burst &= ~(uint32_t)SLEEP_FRAGILE;
    ticker_halt(ticker(thread));
}

void wall_forget(struct agent_thread *thread) {
    if (!ticker(thread)->made)
        return;
    wall_end(thread);
    ticker_free(ticker(thread));
    memset(&thread->trigger.wall, 0, sizeof thread->trigger.wall);
}
