/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * block_sample.c - blocks in the session's memory, and in the ring.
 */
#include "preload/sample/block_sample.h"

#include "common/wire/ring.h"
#include "preload/blocks/link.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/life/session_blocks.h"
#include "preload/sample/event_inside.h"
#include "preload/sample/ticker.h"
#include "preload/sample/walk.h"

static struct wire_block *block_of(struct wire_session *session, uint64_t number) {
    char *blocks = (char *)session + WIRE_BLOCKS_OFFSET;
    return (struct wire_block *)(void *)blocks + WIRE_BLOCK_PLACE(number);
}

bool block_sample_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t number) {
    if (ring_room(slot, WALK_WORDS, thread->stream->head) == 0)
        return false;
    ring_put(slot, WALK_WORDS, thread->stream->head++, wire_word(WIRE_BLOCK, number));
    return true;
}

void block_sample_show(struct wire_session *session, uint64_t number, uint64_t weight) {
    struct wire_block *block = block_of(session, number);
    atomic_store_explicit(&block->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&block->weight, weight, memory_order_relaxed);
    atomic_store_explicit(&block->number, number, memory_order_release);
}

void block_sample_tell_mean(struct wire_session *session, uint32_t doubled) {
    uint32_t known = atomic_load_explicit(&session->blocks_doubled, memory_order_relaxed);
    while (known < doubled &&
           !atomic_compare_exchange_weak(&session->blocks_doubled, &known, doubled))
        ;
}

struct change_job {
    const struct blocks_change *change;
    unsigned n;
};

static void change_one(struct wire_session *session, const struct blocks_change *change) {
    struct wire_block *block = block_of(session, change->number);
    uint64_t number = change->number;
    block_sample_tell_mean(session, change->doubled);
    if (atomic_load(&block->number) == number)
        block_sample_show(
            session, number,
            WIRE_BLOCK_WEIGHT(change->weight, WIRE_DRAWN(change->doubled, change->usual)));
}

/* Where blocks are followed there is one metric of the heap. */
static void charge(struct agent_thread *thread) {
    for (unsigned i = 0; i < agent.settings.metrics; i++)
        if (wire_of_heap(agent.settings.metric[i]))
            event_charge(thread, thread->streams[i].slot);
}

static void change_all(struct agent_thread *thread, const void *argument) {
    const struct change_job *job = argument;
    struct wire_session *session = session_enter(thread);
    if (session == NULL)
        return;
    for (unsigned i = 0; i < job->n; i++)
        change_one(session, &job->change[i]);
    charge(thread);
    session_leave(thread);
}

static void change(const struct blocks_change *change, unsigned n) {
    const struct change_job job = {change, n};
    (void)event_inside(change_all, &job);
}

static uint64_t now(void) {
    return ticker_now(CLOCK_MONOTONIC);
}

/* In a child that shares its parent's memory it is the child's own: less than it was, which counts
 * nothing. */
static uint64_t cpu(void) {
    struct agent_thread *thread = thread_self;
    uint32_t before;
    if (thread == NULL || confine_is_quiet() || !confine_enter(thread, &before))
        return 0;
    uint64_t used = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    confine_leave(thread, before);
    return used;
}

static bool is_of_heap_objects(uint32_t collector) {
    return collector == WIRE_COLLECT_HEAP_OBJECTS;
}

void block_sample_start(void) {
    hcct_blocks_link.heap = settings_have(&agent.settings, wire_of_heap);
    hcct_blocks_link.objects = settings_have(&agent.settings, is_of_heap_objects);
    hcct_blocks_link.change = change;
    hcct_blocks_link.gone = session_block_gone;
    hcct_blocks_link.now = now;
    hcct_blocks_link.cpu = cpu;
}

void block_sample_renew(void) {
    hcct_blocks_link.renew();
}

void block_sample_in_child(void) {
    if (settings_have(&agent.settings, wire_of_blocks))
        hcct_blocks_link.clear();
}
