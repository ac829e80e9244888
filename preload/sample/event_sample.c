/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_sample.c - from an event to a walk.
 */
#include "preload/sample/event_sample.h"

#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "preload/events/link.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/life/no_room.h"
#include "preload/life/session.h"
#include "preload/life/session_slots.h"
#include "preload/life/sys.h"
#include "preload/sample/block_sample.h"
#include "preload/sample/emit.h"
#include "preload/sample/event_inside.h"
#include "preload/sample/event_library.h"
#include "preload/sample/held_sample.h"
#include "preload/sample/ticker.h"
#include "preload/sample/walk.h"
#include "preload/wrap/sleep.h"

#define NAP_NS          200000l
#define WAITS_FOR_SLOT  100
#define WAITS_FOR_TABLE 5000 /* a second: the daemon reads large objects for the first time */

/* ---- for the library: thread context, or inside a handler of the application ---- */

struct sample_job {
    const struct event_sample *sample;
    bool (*kind)(uint32_t collector); /* metrics that it is of */
    uint64_t entered_ns;              /* of a wait: CLOCK_MONOTONIC */
    bool *sent;
};

struct wire_session *event_session_enter(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session != NULL || !session_attach(false))
        return session;
    return session_enter(thread);
}

/* Of a sampled block its word comes first. */
static bool name(struct agent_thread *thread, struct wire_slot *slot, uint32_t metric,
                 const struct event_sample *sample) {
    if (!wire_of_blocks(metric))
        return true;
    return block_sample_name(thread, slot,
                             wire_of_heap(metric) ? sample->number
                                                  : WIRE_DRAWN(sample->doubled, sample->usual));
}

/* Where time is sampled, too, a lock is asked for through a frame of the agent's, as a call that
 * can sleep. */
static struct sleep_place caller_of(const struct event_place *place) {
    uintptr_t call = sleep_call_of(place->pc, place->sp);
    if (call != 0)
        return sleep_place((const struct sleep_call *)call, false);
    return (struct sleep_place){
        .pc = place->pc, .sp = place->sp, .frame = place->frame, .returned = true};
}

static bool walk(struct agent_thread *thread, struct wire_session *session, struct wire_slot *slot,
                 uint32_t metric, const struct event_sample *sample, uint64_t weight) {
    const struct sleep_place caller = caller_of(&sample->place);
    struct sleep_place none, shown;
    ucontext_t uc = {0};
    sleep_show(thread, &uc, &caller, &none);
    _Atomic uint64_t *lost = &slot->counter[WIRE_LOST];
    uint64_t before = atomic_load_explicit(lost, memory_order_relaxed);
    thread->sample_marks = 0;
    if (name(thread, slot, metric, sample)) {
        walk_sample(thread, session, slot, weight, &uc);
    } else {
        session_count(slot, WIRE_LOST, 1);
        session_count(slot, WIRE_LOST_NS, weight);
    }
    sleep_show(thread, &uc, &none, &shown);
    return atomic_load_explicit(lost, memory_order_relaxed) == before;
}

/* A thread's first sample asks for a slot, which the daemon makes within its next sweep; without
 * waiting for that, what threads allocate first would be missing. Once in a thread. */
static struct wire_slot *wait_for_slot(struct agent_thread *thread, struct wire_session *session,
                                       bool *waited) {
    const struct timespec nap = {0, NAP_NS};
    bool first = thread->stream->slot == NULL && !thread->stream->missed_slot;
    struct wire_slot *slot = session_slot(thread, session);
    for (int i = 0; first && slot == NULL && i < WAITS_FOR_SLOT; i++) {
        sys2(SYS_nanosleep, &nap, NULL);
        slot = session_slot(thread, session);
        *waited = true;
    }
    return slot;
}

/* The call that waits returns when the sample is taken, and whoever calls has waited for that, too:
 * up to now, and as long again as one system call of the two with which it began. The thread may
 * have had no processor meanwhile. */
static void credit_own_time(struct agent_thread *thread, struct wire_slot *slot,
                            const struct sample_job *job) {
    uint64_t ended = job->sample->ended_ns;
    uint64_t took = ticker_now(CLOCK_MONOTONIC) - ended + (job->entered_ns - ended) / 2;
    if (emit_repeat(thread, slot, took))
        session_count(slot, WIRE_CREDITED_NS, took);
}

static bool take_in_slot(struct agent_thread *thread, struct wire_session *session, uint32_t metric,
                         const struct sample_job *job, uint64_t weight) {
    bool waited = false; /* for a place to report to: that is none of the lock's */
    struct wire_slot *slot = wait_for_slot(thread, session, &waited);
    if (slot == NULL) {
        session_lose(thread, session, weight);
        return false;
    }
    bool sent = walk(thread, session, slot, metric, job->sample, weight);
    if (sent && !waited && wire_of_waits(metric) && !wire_of_numbers(metric))
        credit_own_time(thread, slot, job);
    return sent;
}

/* For the metric whose stream the thread has. Blocks are followed by the one of the heap alone,
 * also where it was lost who has allocated them: they are there until they are freed. */
static bool take_for(struct agent_thread *thread, struct wire_session *session, uint32_t metric,
                     const struct sample_job *job) {
    const struct event_sample *sample = job->sample;
    uint64_t weight = wire_of_numbers(metric) ? sample->count : sample->weight;
    bool sent = take_in_slot(thread, session, metric, job, weight);
    if (!wire_of_heap(metric))
        return sent;
    block_sample_show(session, sample->number,
                      WIRE_BLOCK_WEIGHT(weight, WIRE_DRAWN(sample->doubled, sample->usual)));
    return true;
}

/* No tick comes meanwhile, which would find another stream than its own. True: the sample was sent
 * for the metric that follows it, where there is one. */
static bool take_for_all(struct agent_thread *thread, struct wire_session *session,
                         const struct sample_job *job) {
    const struct agent_settings *set = &agent.settings;
    struct stream *of_ticks = thread->stream;
    bool any = false, followed = true;
    for (unsigned i = 0; i < set->metrics; i++) {
        if (!job->kind(set->metric[i]))
            continue;
        thread->stream = &thread->streams[i];
        bool sent = take_for(thread, session, set->metric[i], job);
        event_charge(thread, thread->stream->slot);
        any |= sent;
        followed &= sent || !wire_of_heap(set->metric[i]);
    }
    thread->stream = of_ticks;
    return any && followed;
}

static void take(struct agent_thread *thread, const void *argument) {
    struct sample_job job = *(const struct sample_job *)argument;
    if (job.kind == wire_of_waits)
        job.entered_ns = ticker_now(CLOCK_MONOTONIC);
    struct wire_session *session = event_session_enter(thread);
    if (session == NULL)
        return; /* no daemon, or another thread works on the session */
    no_room_tell(session);
    if (job.kind == wire_of_blocks)
        block_sample_tell_mean(session, job.sample->doubled);
    if (session_is_on(session))
        *job.sent = take_for_all(thread, session, &job);
    session_leave(thread);
}

static bool send(const struct event_sample *sample, bool (*kind)(uint32_t collector)) {
    bool sent = false;
    const struct sample_job job = {.sample = sample, .kind = kind, .sent = &sent};
    (void)event_inside(take, &job);
    return sent;
}

static bool send_block(const struct event_sample *sample) {
    return send(sample, wire_of_blocks);
}

static bool send_wait(const struct event_sample *sample) {
    return send(sample, wire_of_waits);
}

static bool send_held(const struct event_sample *sample) {
    return send(sample, wire_of_held);
}

/* ---- for the agent ---- */

static const struct kind {
    uint32_t collector; /* one of them */
    bool (*is_it)(uint32_t collector);
    bool (*send)(const struct event_sample *sample);
    uint32_t beside; /* of an event, on its clock, where they are counted */
} kinds[] = {
    {WIRE_COLLECT_ALLOC, wire_of_blocks, send_block, WIRE_BLOCKS_BESIDE},
    {WIRE_COLLECT_LOCK, wire_of_waits, send_wait, WIRE_LOCKS_BESIDE},
    {WIRE_COLLECT_LOCK_HELD, wire_of_held, send_held, 0},
};

static bool are_counted(const struct kind *kind) {
    const struct agent_settings *settings = &agent.settings;
    for (unsigned i = 0; i < settings->metrics; i++)
        if (kind->is_it(settings->metric[i]) && wire_of_numbers(settings->metric[i]))
            return true;
    return false;
}

static void start(const struct kind *kind) {
    struct event_link *link = event_library_link(kind->collector);
    agent.settings.check = false; /* of samples by time, as the next one */
    agent.settings.lines &= !wire_of_events(agent.settings.collector);
    if (kind->is_it == wire_of_blocks)
        block_sample_start();
    if (kind->is_it == wire_of_held && !held_sample_start())
        return;
    link->sample = kind->send;
    link->beside = are_counted(kind) ? kind->beside : 0;
    atomic_store(&link->since_ns, ticker_now(CLOCK_MONOTONIC));
    atomic_store_explicit(&link->ready, true, memory_order_release);
}

bool event_sample_start(void) {
    if (!event_library_choose(&agent.settings))
        return false;
    for (unsigned i = 0; i < HCCT_ARRAY_LEN(kinds); i++)
        if (settings_have(&agent.settings, kinds[i].is_it))
            start(&kinds[i]);
    return true;
}

void event_sample_stop(void) {
    for (unsigned i = 0; i < HCCT_ARRAY_LEN(kinds); i++) {
        struct event_link *link = event_library_link(kinds[i].collector);
        if (link != NULL)
            atomic_store(&link->ready, false);
    }
    held_sample_stop();
}

static bool has_tables(struct wire_session *session) {
    uint32_t n = modules_logged(session);
    for (uint32_t i = 0; i < n; i++) {
        struct wire_module *module = modules_entry(session, i);
        if (atomic_load(&module->filled) != 0 && atomic_load(&module->table) == WIRE_TABLE_PENDING)
            return false;
    }
    return true;
}

void event_sample_await(void) {
    const struct timespec nap = {0, NAP_NS};
    bool wanted = settings_have(&agent.settings, wire_of_events) || agent.settings.python;
    struct wire_session *session = wanted ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    (void)session_slot(thread_self, session); /* the daemon reads the log where there is a ring */
    for (int i = 0; i < WAITS_FOR_TABLE && !has_tables(session) && !session_is_dead(session); i++)
        sys2(SYS_nanosleep, &nap, NULL);
    session_leave(thread_self);
}
