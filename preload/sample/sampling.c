/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sampling.c - from a tick to a walk, or to none.
 *
 * The agent must not slow the application down: after a walk of so many frames that it cost more
 * than it should, a sample has to stand for so much time as pays for such a walk. One that stands
 * for less is taken by chance, by roulette (draw.h), and stands for so much then. What it has to
 * stand for is known before, from the last walk, so no context has more than its share, however
 * deep it is. The price is estimated from the frames: to measure each walk would cost two system
 * calls. But the prices of a frame are corrected by the walks that are measured, as a stack that
 * has left the caches since the last walk costs several times one that has not. Walks that go as
 * copies have to be so far apart, beside that, that each finds room (copies.h).
 */
#include "preload/sample/sampling.h"

#include "preload/context/send.h"
#include "preload/life/agent.h"
#include "preload/life/child_ends.h"
#include "preload/life/no_room.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/unsampled.h"
#include "preload/sample/draw.h"
#include "preload/sample/points.h"
#include "preload/sample/walk.h"

#define STEP_NS         30    /* a frame found by a rule, caches cold */
#define REREAD_NS       1     /* a frame verified by reading */
#define WORTH_NS        10000 /* walks that cost less are never paid for */
#define PAID_BY         120   /* the walk may take one part in so many of the thread's time */
#define SCALE_ONE       SAMPLING_PRICE_AS_LISTED
#define SCALE_MAX       (8u * SCALE_ONE)
#define SCALE_SLOWLY    8u /* a measurement counts as one of so many */
#define DEFAULT_RATE    100
#define RATE_MAX        10000
#define CALLS_CHECK_NS  100000000 /* CPU time between checks whether calls are followed */
#define EVENTS_CHECK_NS 100000000 /* and between checks for a daemon, where events are sampled */

static struct sampling_plan plan_of(uint32_t rate, uint64_t length, uint64_t period,
                                    uint32_t clock) {
    uint64_t walk = SECOND_NS / (rate >= 1 && rate <= RATE_MAX ? rate : DEFAULT_RATE);
    if (agent.settings.collector == WIRE_COLLECT_CALLS)
        return (struct sampling_plan){.coarse_ns = length != 0 ? period : CALLS_CHECK_NS};
    if (agent.settings.ticks_only)
        return (struct sampling_plan){.coarse_ns =
                                          walk > ticker_resolution() ? walk : ticker_resolution()};
    if (wire_of_events(agent.settings.collector))
        return (struct sampling_plan){.coarse_ns = EVENTS_CHECK_NS};
    if (wire_clock_sleeps(clock)) /* sleep is what is looked for: no bursts */
        return (struct sampling_plan){
            .coarse_ns = walk, .wall_ns = walk, .off_only = clock == WIRE_CLOCK_OFF};
    if (length != 0 && period > length)
        return (struct sampling_plan){.coarse_ns = period, .fine_ns = walk, .length_ns = length};
    return (struct sampling_plan){.coarse_ns =
                                      walk > ticker_resolution() ? walk : ticker_resolution(),
                                  .fine_ns = walk,
                                  .length_ns = SAMPLING_ENDLESS};
}

struct sampling_plan sampling_plan(struct wire_session *session) {
    return plan_of(atomic_load_explicit(&session->rate, memory_order_relaxed),
                   atomic_load_explicit(&session->burst_length_ns, memory_order_relaxed),
                   atomic_load_explicit(&session->burst_period_ns, memory_order_relaxed),
                   session->clock);
}

struct sampling_plan sampling_plan_asked(void) {
    const struct agent_settings *set = &agent.settings;
    return plan_of(set->rate, set->burst_length_ns, set->burst_period_ns, set->clock);
}

void sampling_account(struct agent_thread *thread) {
    uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    thread->unsent_ns += now - thread->trigger.cpu_ns;
    thread->trigger.cpu_ns = now;
}

void sampling_measured(struct agent_thread *thread, uint64_t ns) {
    uint64_t price = thread->walk_price_ns;
    if (price < WORTH_NS / 4)
        return; /* not deep: what else the handler does would be taken for the price of frames */
    uint64_t scale = ns * SCALE_ONE / price;
    scale = scale < SCALE_ONE ? SCALE_ONE : scale > SCALE_MAX ? SCALE_MAX : scale;
    thread->price_scale =
        (uint32_t)((thread->price_scale * (SCALE_SLOWLY - 1) + scale + SCALE_SLOWLY / 2) /
                   SCALE_SLOWLY);
}

static void pay(struct agent_thread *thread, struct walk_cost cost) {
    thread->walk_price_ns = (uint64_t)cost.stepped * STEP_NS + (uint64_t)cost.reread * REREAD_NS;
    uint64_t ns = thread->walk_price_ns * thread->price_scale / SCALE_ONE;
    thread->least_ns = hcct_likely(ns < WORTH_NS) ? 0 : ns * PAID_BY;
}

static uint64_t taken_weight(struct agent_thread *thread, uint64_t weight) {
    weight = copies_weight(&thread->copies, weight, &thread->random);
    if (hcct_likely(thread->least_ns <= weight))
        return weight;
    return draw_roulette(draw_word(&thread->random), weight, thread->least_ns);
}

/* Samples of one burst are marked as such; `marks`: others, of the sample itself. */
static void mark(struct agent_thread *thread, uint64_t marks) {
    const struct trigger *t = &thread->trigger;
    uint32_t burst = plan_is_endless(&t->plan) ? 0 : t->points.begun;
    bool is_same = burst != 0 && burst == thread->burst_sent;
    thread->sample_marks = (is_same ? WIRE_SAME_BURST : 0) | marks;
    thread->burst_sent = burst;
}

/* Page faults since the last sample: they were in its context, or in what ran in between. Their
 * stream is that of the ticks where time is not counted. */
static uint64_t new_faults(struct agent_thread *thread) {
    uint64_t now = thread_faults(), n = now > thread->faults ? now - thread->faults : 0;
    thread->faults = now;
    return n;
}

static void walk_faults(struct agent_thread *thread, struct wire_session *session,
                        const ucontext_t *uc) {
    struct stream *of_ticks = thread->stream;
    uint64_t n = new_faults(thread);
    if (n == 0)
        return;
    thread->stream = &thread->streams[agent.settings.faults];
    thread->sample_marks = 0;
    struct wire_slot *slot = session_slot(thread, session);
    if (slot != NULL)
        (void)walk_sample(thread, session, slot, n, uc);
    else
        session_lose(thread, session, n);
    thread->stream = of_ticks;
}

static bool walk_in(struct agent_thread *thread, struct wire_session *session, uint64_t weight,
                    uint64_t marks, const ucontext_t *uc) {
    struct wire_slot *slot = session_slot(thread, session);
    no_room_tell(session);
    unsampled_tell(session);
    context_send(session);
    if (slot == NULL) {
        session_lose(thread, session, weight);
        return false;
    }
    uint64_t taken = taken_weight(thread, weight);
    if (taken == 0) {
        session_count(slot, WIRE_SKIPPED, 1);
        return false;
    }
    if (hcct_unlikely(agent.settings.faults == agent.settings.ticks_to)) {
        walk_faults(thread, session, uc);
        return true;
    }
    mark(thread, taken == weight ? marks : marks & ~WIRE_STEPS);
    struct walk_cost cost = walk_sample(thread, session, slot, taken, uc);
    if (hcct_unlikely(agent.settings.faults != WIRE_METRICS_MAX))
        walk_faults(thread, session, uc);
    pay(thread, cost);
    copies_walked(&thread->copies, cost.copied, &thread->random);
    return true;
}

/* Attaching and the first walk take as long as many a child of fork lives. They follow a point, and
 * are over long before the next one: what they take belongs to the sample that attaches, and all
 * points are put off by it. Where points are not on a clock of CPU time nothing is. */
static uint64_t put_off(struct agent_thread *thread, uint64_t began) {
    struct trigger *t = &thread->trigger;
    if (t->plan.fine_ns == 0)
        return 0;
    uint64_t ns = ticker_now(CLOCK_THREAD_CPUTIME_ID) - began;
    points_put_off(&t->points, ns);
    return ns;
}

/* How long the walk takes is known when its weight has gone: other children say. */
static bool walk_in_child(struct agent_thread *thread, struct wire_session *session,
                          uint64_t weight, uint64_t attached, const ucontext_t *uc) {
    uint64_t began = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    bool by_points = thread->trigger.plan.fine_ns != 0;
    bool walked =
        walk_in(thread, session, weight + (by_points ? child_ends_first_walk() : 0), attached, uc);
    child_ends_note_first_walk(put_off(thread, began));
    return walked;
}

/* The first sample of a process: looks for the daemon. Programs that begin do so for certain.
 * Another thread may look for it now, or have found it just before. */
static bool walk_first(struct agent_thread *thread, uint64_t weight, const ucontext_t *uc) {
    uint64_t attached = 0, began = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (!session_is_awaited() && weight < WIRE_ATTACH_NS) {
        attached = WIRE_ATTACHED;
        weight = draw_roulette(draw_word(&thread->random), weight, WIRE_ATTACH_NS);
    }
    if (weight == 0)
        return false;
    (void)session_attach(false);
    struct wire_session *session = session_enter(thread);
    weight += put_off(thread, began);
    if (session == NULL) {
        unsampled_add(weight, true);
        return false;
    }
    bool walked = walk_in_child(thread, session, weight, attached, uc);
    session_leave(thread);
    return walked;
}

bool sampling_walk(struct agent_thread *thread, struct wire_session *session,
                   const ucontext_t *uc) {
    uint64_t weight = thread->unsent_ns, marks = thread->by_points ? WIRE_STEPS : 0;
    thread->walk_price_ns = 0;
    thread->unsent_ns = 0;
    if (weight == 0)
        return false;
    if (hcct_unlikely(session == NULL) && (session_is_held() || session_was_lost())) {
        unsampled_add(weight, session_is_held() || session_fell_silent());
        return false;
    }
    if (hcct_unlikely(session == NULL))
        return walk_first(thread, weight, uc);
    return walk_in(thread, session, weight, marks, uc);
}
