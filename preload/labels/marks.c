/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marks.c - a ring whose places are claimed, written and published; that of the process is read by
 * itself, as hcctd reads a session's.
 */
#include "preload/labels/marks.h"

#include <string.h>

#include "preload/wrap/libc.h"

/* As much of a name as fits, without the beginning of a character; control characters are the
 * daemon's to take out. */
static void copy_name(char into[WIRE_MARK_ROOM], const char *name) {
    size_t n = strnlen(name, WIRE_MARK_ROOM);
    if (n == WIRE_MARK_ROOM)
        for (n--; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    memcpy(into, name, n);
    memset(into + n, 0, WIRE_MARK_ROOM - n);
}

struct ring {
    _Atomic uint64_t *marks; /* that were set, ever */
    struct wire_mark *places;
    uint32_t n;
};

static struct ring ring_of(struct wire_session *session) {
    return (struct ring){&session->marks, session->mark, WIRE_MARKS};
}

static struct ring own_ring(void) {
    return (struct ring){&agent.process->marks, agent.process->mark, AGENT_MARKS};
}

static void put(struct ring ring, const char name[WIRE_MARK_ROOM], uint64_t time) {
    uint64_t n = atomic_fetch_add(ring.marks, 1);
    struct wire_mark *mark = &ring.places[n % ring.n];
    uint64_t there = atomic_load_explicit(&mark->number, memory_order_relaxed);
    /* Who is so late that the place is a later one's, or in the middle of a change, gives up: who
     * reads misses the number, and counts it. */
    if (there > n || !atomic_compare_exchange_strong(&mark->number, &there, WIRE_MARK_WRITING))
        return;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&mark->time_ns, time, memory_order_relaxed);
    memcpy(mark->name, name, WIRE_MARK_ROOM);
    atomic_store_explicit(&mark->number, n + 1, memory_order_release);
}

void marks_put(struct wire_session *session, const char *name) {
    char copy[WIRE_MARK_ROOM];
    copy_name(copy, name);
    put(ring_of(session), copy, libc_coarse_ns() - atomic_load(&agent.process->ahead_ns));
}

void marks_keep(const char *name) {
    char copy[WIRE_MARK_ROOM];
    copy_name(copy, name);
    put(own_ring(), copy, libc_coarse_ns());
}

void marks_lose(void) {
    atomic_fetch_add(&agent.process->marks_lost, 1);
}

/* False: mark `number` is not there, or was written over meanwhile. */
static bool send_one(struct wire_session *session, uint64_t number) {
    struct agent_process *process = agent.process;
    struct wire_mark *mark = &process->mark[(number - 1) % AGENT_MARKS];
    char name[WIRE_MARK_ROOM];
    if (atomic_load_explicit(&mark->number, memory_order_acquire) != number)
        return false;
    uint64_t time = atomic_load_explicit(&mark->time_ns, memory_order_relaxed);
    memcpy(name, mark->name, sizeof name);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&mark->number, memory_order_relaxed) != number)
        return false;
    put(ring_of(session), name, time - atomic_load(&process->ahead_ns));
    return true;
}

void marks_send_kept(struct wire_session *session) {
    struct agent_process *process = agent.process;
    uint64_t set = atomic_load_explicit(&process->marks, memory_order_acquire);
    uint64_t sent = atomic_load(&process->marks_sent);
    while (sent < set && !atomic_compare_exchange_weak(&process->marks_sent, &sent, set))
        continue;
    if (sent > set)
        set = sent; /* another thread has sent more, since */
    uint64_t lost = atomic_exchange(&process->marks_lost, 0);
    uint64_t first = set - sent > AGENT_MARKS ? set - AGENT_MARKS : sent;
    lost += first - sent;
    for (uint64_t number = first + 1; number <= set; number++)
        lost += !send_one(session, number);
    atomic_fetch_add(&session->marks_lost, lost);
}
