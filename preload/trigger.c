/*
 * trigger.c - timers on CLOCK_THREAD_CPUTIME_ID, raised as thread-directed signals.
 *
 * Weight of a tick: the periods of CPU time that have passed, overruns included, so that weights
 * add up to the thread's CPU time without a look at any clock. The kernel serves these timers at
 * its tick, so the sampling interval can't be shorter than that. The first tick of a thread stands
 * for one whole interval: it comes after a time that is uniform in it, so that a thread shorter
 * than an interval is seen with a probability in proportion to its length, and totals are unbiased.
 *
 * Without a session the timer is slow, and each tick is a chance to look for a daemon.
 */
#include "preload/trigger.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "preload/emit.h"
#include "preload/session.h"
#include "preload/signal.h"
#include "preload/sys.h"
#include "preload/walk.h"

#define SECOND_NS      1000000000ull
#define IDLE_NS        20000000ull /* CPU time between two looks for a daemon */
#define ATTACH_WAIT_MS 20

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* The kernel's tick: the resolution of its coarse clocks. */
static uint64_t tick_ns(void) {
    static _Atomic uint64_t tick;
    if (tick == 0) {
        struct timespec resolution = {0, 0};
        clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
        tick = resolution.tv_nsec > 0 ? (uint64_t)resolution.tv_nsec : SECOND_NS / 250;
    }
    return tick;
}

static uint64_t scatter(uint64_t seed) {
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
    return seed ^ seed >> 31;
}

/* Time to the first expiry. The tick itself is already spread over one tick's length. */
static uint64_t first_expiry(const struct agent_thread *thread, uint64_t period) {
    uint64_t spread = period > tick_ns() ? period - tick_ns() : 0;
    if (spread == 0)
        return 1;
    return 1 + scatter(now_ns(CLOCK_MONOTONIC) + (uint64_t)thread->tid * 0x9e3779b97f4a7c15ull) %
                   spread;
}

static void set_period(struct agent_thread *thread, uint64_t period) {
    uint64_t first = first_expiry(thread, period);
    struct itimerspec when = {
        .it_value = {(time_t)(first / SECOND_NS), (long)(first % SECOND_NS)},
        .it_interval = {(time_t)(period / SECOND_NS), (long)(period % SECOND_NS)},
    };
    if (!thread->has_timer || thread->period_ns == period)
        return;
    sys4(SYS_timer_settime, thread->timer, 0, &when, 0);
    thread->period_ns = period;
    thread->first_tick = true;
}

static uint64_t period_of(uint32_t rate) {
    return SECOND_NS / (rate >= 1 && rate <= 10000 ? rate : 100);
}

static bool create(struct agent_thread *thread, int signal) {
    struct sigevent event;
    /* the thread's own clock by its raw id, as another thread may have to make the timer */
    clockid_t clock = (clockid_t)((~(unsigned)thread->tid << 3) | 6);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = thread;
    event._sigev_un._tid = thread->tid;
    thread->has_timer = sys3(SYS_timer_create, clock, &event, &thread->timer) == 0;
    return thread->has_timer;
}

static void count_missing(void) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    atomic_fetch_add(&session->timers_missing, 1);
    session_leave(thread_self);
}

void trigger_start(struct agent_thread *thread) {
    thread->period_ns = 0;
    if (signal_number() == 0 || !create(thread, signal_number())) {
        count_missing();
        return;
    }
    bool attached = atomic_load(&agent.process->session) != NULL;
    set_period(thread, attached ? period_of(agent.settings.rate) : IDLE_NS);
}

void trigger_stop(struct agent_thread *thread) {
    if (thread->has_timer)
        sys1(SYS_timer_delete, thread->timer);
    thread->has_timer = false;
}

void trigger_move(struct agent_thread *thread, int signal) {
    uint64_t period = thread->period_ns;
    if (!thread->has_timer)
        return;
    trigger_stop(thread);
    thread->period_ns = 0;
    if (signal != 0 && create(thread, signal))
        set_period(thread, period);
}

static void sample(struct agent_thread *thread, struct wire_session *session, uint64_t expiries,
                   const ucontext_t *uc) {
    uint64_t began = now_ns(CLOCK_MONOTONIC);
    uint64_t weight = expiries * thread->period_ns;
    if (thread->first_tick)
        weight = thread->period_ns > tick_ns() ? thread->period_ns : tick_ns();
    thread->first_tick = false;
    thread->owed_ns += weight;
    struct wire_slot *slot = session_slot(thread, session);
    if (slot == NULL)
        return;
    walk_sample(thread, session, slot, uc);
    session_count(slot, WIRE_EXPIRIES, expiries);
    session_count(slot, WIRE_HANDLER_NS, now_ns(CLOCK_MONOTONIC) - began);
}

void trigger_tick(struct agent_thread *thread, uint64_t expiries, const ucontext_t *uc) {
    if (thread->ending)
        return;
    struct wire_session *session = session_enter(thread);
    if (session == NULL) {
        set_period(thread, IDLE_NS);
        session_attach(false, ATTACH_WAIT_MS);
        return;
    }
    uint32_t control = atomic_load_explicit(&session->control, memory_order_relaxed);
    uint32_t rate = atomic_load_explicit(&session->rate, memory_order_relaxed);
    uint64_t wanted = (control & WIRE_CONTROL_ON) != 0 ? period_of(rate) : IDLE_NS;
    if (thread->period_ns != wanted)
        set_period(thread, wanted); /* this tick belongs to the old one */
    else if ((control & WIRE_CONTROL_ON) != 0)
        sample(thread, session, expiries, uc);
    session_leave(thread);
}
