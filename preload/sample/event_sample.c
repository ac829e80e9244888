/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_sample.c - from an event to a walk.
 */
#include "preload/sample/event_sample.h"

#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "preload/blocks/link.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/life/no_room.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/locks/link.h"
#include "preload/sample/block_sample.h"
#include "preload/sample/event_inside.h"
#include "preload/sample/walk.h"
#include "preload/wrap/sleep.h"

#define NAP_NS          200000l
#define WAITS_FOR_SLOT  100
#define WAITS_FOR_TABLE 5000 /* a second: the daemon reads large objects for the first time */

/* ---- for the library: thread context, or inside a handler of the application ---- */

struct sample_job {
    const struct event_sample *sample;
    bool *sent;
};

/* A session that was not there before learns what its parent's, or this one's last, knew.
 */
static struct wire_session *enter(struct agent_thread *thread) {
    struct wire_session *session = session_enter(thread);
    if (session != NULL || !session_attach(false))
        return session;
    session = session_enter(thread);
    if (session != NULL)
        modules_learn_again(thread, session);
    return session;
}

static bool walk(struct agent_thread *thread, struct wire_session *session, struct wire_slot *slot,
                 const struct event_sample *sample) {
    const struct sleep_place caller = {sample->place.pc, sample->place.sp, sample->place.frame, 0,
                                       0};
    struct sleep_place none;
    ucontext_t uc = {0};
    sleep_show(thread, &uc, &caller, &none);
    _Atomic uint64_t *lost = &slot->counter[WIRE_LOST];
    uint64_t before = atomic_load_explicit(lost, memory_order_relaxed);
    thread->sample_marks = 0;
    if (block_sample_name(thread, slot, sample->number)) {
        walk_sample(thread, session, slot, sample->weight, &uc);
    } else {
        session_count(slot, WIRE_LOST, 1);
        session_count(slot, WIRE_LOST_NS, sample->weight);
    }
    return atomic_load_explicit(lost, memory_order_relaxed) == before;
}

/* A thread's first sample asks for a slot, which the daemon makes within its next sweep; without
 * waiting for that, what threads allocate first would be missing. Once in a thread. */
static struct wire_slot *wait_for_slot(struct agent_thread *thread, struct wire_session *session) {
    const struct timespec nap = {0, NAP_NS};
    bool first = thread->slot == NULL && !thread->missed_slot;
    struct wire_slot *slot = session_slot(thread, session);
    for (int i = 0; first && slot == NULL && i < WAITS_FOR_SLOT; i++) {
        sys2(SYS_nanosleep, &nap, NULL);
        slot = session_slot(thread, session);
    }
    return slot;
}

static void take(struct agent_thread *thread, const void *argument) {
    const struct sample_job *job = argument;
    const struct event_sample *sample = job->sample;
    struct wire_session *session = enter(thread);
    if (session == NULL)
        return; /* no daemon, or another thread works on the session */
    no_room_tell(session);
    struct wire_slot *slot = session_is_on(session) ? wait_for_slot(thread, session) : NULL;
    if (slot != NULL)
        *job->sent = walk(thread, session, slot, sample);
    else if (session_is_on(session))
        atomic_fetch_add(&session->lost_ns, sample->weight);
    if (*job->sent && sample->number != 0)
        block_sample_show(session, sample->number, sample->weight);
    session_leave(thread);
}

static bool send(const struct event_sample *sample) {
    bool sent = false;
    const struct sample_job job = {sample, &sent};
    (void)event_inside(take, &job);
    return sent;
}

/* ---- for the agent ---- */

/* What the library of a collector has to do with the agent; NULL: it is not there. */
static struct event_link *link_of_blocks(void) {
    return &hcct_blocks_link != NULL ? &hcct_blocks_link.event : NULL;
}

static struct event_link *link_of_locks(void) {
    return &hcct_locks_link;
}

static const struct kind {
    bool (*is_it)(uint32_t collector);
    struct event_link *(*link)(void);
    const char *missing;
} kinds[] = {
    {wire_of_blocks, link_of_blocks,
     "allocations are not sampled: libhcctblocks.so must follow libhcctagent.so in LD_PRELOAD"},
    {wire_of_locks, link_of_locks,
     "waits for locks are not sampled: libhcctlocks.so must follow libhcctagent.so in LD_PRELOAD"},
};

static bool start(const struct kind *kind) {
    uint32_t collector = agent.settings.collector;
    struct event_link *link = kind->link();
    if (link == NULL) {
        settings_say(&agent.settings, true, kind->missing, "");
        return false;
    }
    agent.settings.lines = agent.settings.check = false; /* of samples by time */
    if (wire_of_blocks(collector))
        block_sample_start();
    link->numbers = wire_of_numbers(collector);
    link->sample = send;
    atomic_store_explicit(&link->ready, true, memory_order_release);
    return true;
}

bool event_sample_start(void) {
    for (unsigned i = 0; i < HCCT_ARRAY_LEN(kinds); i++)
        if (kinds[i].is_it(agent.settings.collector))
            return start(&kinds[i]);
    return true;
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
    bool wanted = wire_of_events(agent.settings.collector) || agent.settings.python;
    struct wire_session *session = wanted ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    (void)session_slot(thread_self, session); /* the daemon reads the log where there is a ring */
    for (int i = 0; i < WAITS_FOR_TABLE && !has_tables(session) && !session_is_dead(session); i++)
        sys2(SYS_nanosleep, &nap, NULL);
    session_leave(thread_self);
}
