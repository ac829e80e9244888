/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_slots.c - first fit, so that the slots in use stay at the low, allocated end.
 */
#include "preload/life/session_slots.h"

#include <string.h>

#include "preload/life/thread_name.h"

static struct wire_slot *slot_at(struct wire_session *session, uint32_t i) {
    return (struct wire_slot *)(void *)((char *)session + WIRE_SLOTS_OFFSET +
                                        i * agent.process->slot_bytes);
}

static void note_slot(struct wire_session *session, uint32_t used) {
    uint32_t old = atomic_load(&session->slots_used);
    while (old < used && !atomic_compare_exchange_weak(&session->slots_used, &old, used))
        ;
}

void session_expect_slots(struct wire_session *session) {
    uint32_t threads = 0;
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        threads += agent.settings.metrics * atomic_load_explicit(&t->used, memory_order_relaxed);
    note_slot(session, threads < agent.process->slots ? threads : agent.process->slots);
}

/* `of`: the metric. */
static struct wire_slot *claim(struct wire_session *session, pid_t tid, uint32_t of) {
    uint32_t ready = atomic_load_explicit(&session->slots_ready, memory_order_acquire);
    for (uint32_t i = of; i < ready && i < agent.process->slots; i += agent.settings.metrics) {
        struct wire_slot *slot = slot_at(session, i);
        uint32_t state = WIRE_SLOT_FREE;
        if (atomic_load_explicit(&slot->state, memory_order_relaxed) == state &&
            atomic_compare_exchange_strong(&slot->state, &state, WIRE_SLOT_OWNED)) {
            slot->tid = (uint32_t)tid;
            _Static_assert(sizeof slot->name == KERNEL_NAME_ROOM, "as long as the kernel's");
            thread_ask_name(tid, slot->name);
            note_slot(session, i + 1);
            return slot;
        }
    }
    if (ready < agent.process->slots) { /* else there never is one more */
        note_slot(session, ready + 1);
        session_expect_slots(session);
    }
    return NULL;
}

struct wire_slot *session_slot(struct agent_thread *thread, struct wire_session *session) {
    struct stream *stream = thread->stream;
    if (stream->slot != NULL)
        return stream->slot;
    stream->slot = claim(session, thread->tid, (uint32_t)(stream - thread->streams));
    if (stream->slot != NULL) {
        stream->head = atomic_load(&stream->slot->head);
    } else if (!stream->missed_slot) {
        stream->missed_slot = true;
        atomic_fetch_add(&session->slots_missing, 1);
    }
    return stream->slot;
}

void session_end_slots(struct agent_thread *thread) {
    for (unsigned i = 0; i < agent.settings.metrics; i++) {
        struct wire_slot *slot = thread->streams[i].slot;
        thread->streams[i].slot = NULL;
        if (slot != NULL)
            atomic_store_explicit(&slot->state, WIRE_SLOT_ENDED, memory_order_release);
    }
}
