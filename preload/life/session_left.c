/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_left.c - a list of what threads may still write to.
 */
#include "preload/life/session_left.h"

#include "common/wire/ring.h"
#include "preload/life/hooks.h"
#include "preload/life/session.h"
#include "preload/life/sys.h"

void session_left_unmap(const struct agent_left *left) {
    sys2(SYS_munmap, left->session, left->session_bytes);
    sys2(SYS_munmap, left->arena, left->arena_bytes);
}

static bool take_left(struct agent_process *process) {
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&process->left_taken, &nobody, 1);
}

/* Slots that were never ready may have no memory. */
static uint64_t slots_of(const struct agent_left *left) {
    uint64_t mapped = (left->session_bytes - WIRE_SLOTS_OFFSET) / WIRE_CALLS_BYTES;
    uint64_t ready = atomic_load(&left->session->slots_ready);
    uint64_t used = atomic_load(&left->session->slots_used);
    used = used < ready ? used : ready;
    return used < mapped ? used : mapped;
}

static uint64_t unread_calls(const struct agent_left *left) {
    uint64_t unread = 0, n = slots_of(left);
    char *first = (char *)left->session + WIRE_SLOTS_OFFSET;
    for (uint64_t i = 0; i < n; i++) {
        struct wire_slot *slot = (struct wire_slot *)(void *)(first + i * WIRE_CALLS_BYTES);
        unread += ring_unread(slot, WIRE_RING_WORDS(WIRE_CALLS_BYTES), atomic_load(&slot->head));
    }
    return unread;
}

/* False: it is still to be read, or written to. */
static bool free_one(struct agent_process *process, int i) {
    struct agent_left *left = &process->left[i];
    bool was_read = session_was_read(left->session, left->arena);
    bool waits = (process->left_waits & 1ull << i) != 0 && !was_read;
    if (waits || agent_hooks.sends_to(left->session))
        return false;
    if (was_read)
        atomic_fetch_add(&process->lost, unread_calls(left));
    session_left_unmap(left);
    left->session = NULL;
    return true;
}

static void free_left(struct agent_process *process) {
    bool some = false;
    for (int i = 0; i < AGENT_LEFT_MAX; i++)
        some |= process->left[i].session != NULL && !free_one(process, i);
    atomic_store(&process->left_some, some);
}

void session_left_keep(const struct agent_left *left, bool waits) {
    struct agent_process *process = agent.process;
    if (!take_left(process))
        return;
    process->left_waits = 0;
    for (int i = 0; i < AGENT_LEFT_MAX; i++)
        if (process->left[i].session == NULL) {
            process->left[i] = *left;
            process->left_waits = (uint64_t)waits << i;
            break;
        }
    free_left(process);
    atomic_store(&process->left_taken, 0);
}

void session_free_left(void) {
    struct agent_process *process = agent.process;
    if (atomic_load(&process->left_some) == 0 || !take_left(process))
        return;
    free_left(process);
    atomic_store(&process->left_taken, 0);
}
