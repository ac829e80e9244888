/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * block_sample.c - from an allocation to a walk.
 */
#include "preload/sample/block_sample.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "common/wire/ring.h"
#include "preload/blocks/link.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler_stack.h"
#include "preload/life/modules.h"
#include "preload/life/no_room.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"
#include "preload/sample/walk.h"
#include "preload/wrap/sleep.h"

#define NAP_NS          200000l
#define WAITS_FOR_SLOT  100
#define WAITS_FOR_TABLE 5000 /* a second: the daemon reads large objects for the first time */

/* ---- for the library: thread context, or inside a handler of the application ---- */

typedef void inside(struct agent_thread *thread, const void *argument);

/* Calls function(thread, argument), with no signal meanwhile. False: this is no time for that. */
static bool call_inside(inside *function, const void *argument) {
    struct agent_thread *thread = thread_self;
    uint64_t all = UINT64_MAX, mask = 0;
    uint32_t before;
    if (!agent_started() || thread == NULL || !agent_owns_memory() ||
        !confine_enter(thread, &before))
        return false;
    bool blocked = sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, KERNEL_SIGSET_BYTES) == 0;
    if (blocked) {
        handler_stack_call(thread, function, argument);
        sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, KERNEL_SIGSET_BYTES);
    }
    confine_leave(thread, before);
    return blocked;
}

static struct wire_block *block_of(struct wire_session *session, uint64_t number) {
    char *blocks = (char *)session + WIRE_BLOCKS_OFFSET;
    return (struct wire_block *)(void *)blocks + WIRE_BLOCK_PLACE(number);
}

static bool is_on(struct wire_session *session) {
    return (atomic_load_explicit(&session->control, memory_order_relaxed) & WIRE_CONTROL_ON) != 0;
}

struct sample_job {
    const struct blocks_sample *sample;
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

/* What is credited next is that block. False: the ring is full. */
static bool name_block(struct agent_thread *thread, struct wire_slot *slot, uint64_t number) {
    if (number == 0)
        return true;
    if (ring_room(slot, WALK_WORDS, thread->head) == 0)
        return false;
    ring_put(slot, WALK_WORDS, thread->head++, wire_word(WIRE_BLOCK, number));
    return true;
}

static bool walk(struct agent_thread *thread, struct wire_session *session, struct wire_slot *slot,
                 const struct blocks_sample *sample) {
    const struct sleep_place caller = {sample->place.pc, sample->place.sp, sample->place.frame, 0};
    struct sleep_place none;
    ucontext_t uc = {0};
    sleep_show(&uc, &caller, &none);
    _Atomic uint64_t *lost = &slot->counter[WIRE_LOST];
    uint64_t before = atomic_load_explicit(lost, memory_order_relaxed);
    thread->sample_marks = 0;
    if (name_block(thread, slot, sample->number)) {
        walk_sample(thread, session, slot, sample->weight, &uc);
    } else {
        session_count(slot, WIRE_LOST, 1);
        session_count(slot, WIRE_LOST_NS, sample->weight);
    }
    return atomic_load_explicit(lost, memory_order_relaxed) == before;
}

static void show(struct wire_session *session, uint64_t number, uint64_t weight) {
    struct wire_block *block = block_of(session, number);
    atomic_store_explicit(&block->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&block->weight, weight, memory_order_relaxed);
    atomic_store_explicit(&block->number, number, memory_order_release);
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
    const struct blocks_sample *sample = job->sample;
    struct wire_session *session = enter(thread);
    if (session == NULL)
        return; /* no daemon, or another thread works on the session */
    no_room_tell(session);
    struct wire_slot *slot = is_on(session) ? wait_for_slot(thread, session) : NULL;
    if (slot != NULL)
        *job->sent = walk(thread, session, slot, sample);
    else if (is_on(session))
        atomic_fetch_add(&session->lost_ns, sample->weight);
    if (*job->sent && sample->number != 0)
        show(session, sample->number, sample->weight);
    session_leave(thread);
}

static bool send(const struct blocks_sample *sample) {
    bool sent = false;
    const struct sample_job job = {sample, &sent};
    (void)call_inside(take, &job);
    return sent;
}

struct change_job {
    const struct blocks_change *change;
    unsigned n;
    bool *done;
};

static void change_one(struct wire_session *session, const struct blocks_change *change) {
    struct wire_block *block = block_of(session, change->number);
    uint64_t number = change->number;
    if (change->weight == 0)
        atomic_compare_exchange_strong(&block->number, &number, 0);
    else if (atomic_load(&block->number) == number)
        show(session, number, change->weight);
}

static void change_all(struct agent_thread *thread, const void *argument) {
    const struct change_job *job = argument;
    struct wire_session *session = session_enter(thread);
    if (session == NULL) {
        *job->done = !session_is_held();
        return;
    }
    for (unsigned i = 0; i < job->n; i++)
        change_one(session, &job->change[i]);
    session_leave(thread);
    *job->done = true;
}

static bool change(const struct blocks_change *change, unsigned n) {
    bool done = false;
    const struct change_job job = {change, n, &done};
    return call_inside(change_all, &job) && done;
}

/* ---- for the agent ---- */

bool block_sample_start(void) {
    uint32_t collector = agent.settings.collector;
    if (!wire_of_blocks(collector))
        return true;
    if (&hcct_blocks_link == NULL) {
        settings_say(&agent.settings, true, "allocations are not sampled: ",
                     "libhcctblocks.so must follow libhcctagent.so in LD_PRELOAD");
        return false;
    }
    agent.settings.lines = agent.settings.check = false; /* of samples by time */
    hcct_blocks_link.heap = wire_of_heap(collector);
    hcct_blocks_link.objects = wire_of_objects(collector);
    hcct_blocks_link.sample = send;
    hcct_blocks_link.change = change;
    atomic_store_explicit(&hcct_blocks_link.ready, true, memory_order_release);
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

void block_sample_await(void) {
    const struct timespec nap = {0, NAP_NS};
    struct wire_session *session =
        wire_of_blocks(agent.settings.collector) ? session_enter(thread_self) : NULL;
    if (session == NULL)
        return;
    (void)session_slot(thread_self, session); /* the daemon reads the log where there is a ring */
    for (int i = 0; i < WAITS_FOR_TABLE && !has_tables(session) && !session_is_dead(session); i++)
        sys2(SYS_nanosleep, &nap, NULL);
    session_leave(thread_self);
}

void block_sample_in_child(void) {
    if (wire_of_blocks(agent.settings.collector))
        hcct_blocks_link.clear();
}
