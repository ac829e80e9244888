/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * send.c - copies nodes of the table into the session's memory, which any thread may do at any
 * time: all copy the same.
 */
#include "preload/context/send.h"

bool context_may_send(void) {
    const struct agent_process *process = agent.process;
    return process->session_bytes >= WIRE_SESSION_BYTES(process->slot_bytes);
}

static struct wire_context *entry_of(struct wire_session *session, uint32_t i) {
    char *first = (char *)session + WIRE_CONTEXTS_OFFSET(agent.process->slot_bytes);
    return (struct wire_context *)(void *)first + i;
}

static void raise_to(_Atomic uint32_t *number, uint32_t to) {
    uint32_t old = atomic_load_explicit(number, memory_order_relaxed);
    while (old < to && !atomic_compare_exchange_weak(number, &old, to))
        ;
}

/* The session's first node is the root at which it began. */
static void begin(const struct context_table *all, struct wire_session *session) {
    uint32_t none = 0;
    if (atomic_load_explicit(&session->contexts_tag, memory_order_acquire) != 0)
        return;
    atomic_compare_exchange_strong(&session->contexts_first, &none, atomic_load(&all->root));
    atomic_store_explicit(&session->contexts_tag, (uint32_t)(all->tag >> 32), memory_order_release);
}

void context_send_rest(struct context_table *all, struct wire_session *session) {
    uint32_t used = atomic_load_explicit(&all->used, memory_order_acquire) + 1;
    if (atomic_load_explicit(&session->contexts_used, memory_order_relaxed) == used ||
        atomic_load_explicit(&all->root, memory_order_relaxed) == 0 || !context_may_send())
        return;
    begin(all, session);
    raise_to(&session->contexts_wanted, used);
    uint32_t ready = atomic_load_explicit(&session->contexts_ready, memory_order_acquire);
    uint32_t i = atomic_load_explicit(&session->contexts_used, memory_order_relaxed);
    uint32_t first = atomic_load_explicit(&session->contexts_first, memory_order_relaxed);
    for (i = i > first ? i : first; i < used && i < ready && i < WIRE_CONTEXTS; i++) {
        const struct context_node *node = &all->node[i];
        uint64_t pc = atomic_load_explicit(&node->pc, memory_order_acquire);
        if (pc == 0)
            break; /* another thread is about to fill it */
        *entry_of(session, i) = (struct wire_context){pc, node->parent, node->module};
    }
    atomic_thread_fence(memory_order_release);
    raise_to(&session->contexts_used, i);
}
