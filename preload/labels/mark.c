/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark.c - a moment that the application marks, in a small table of the session's memory that the
 * daemon reads often. Any thread, and handlers of signals: a place is taken by one addition.
 */
#include <string.h>

#include "preload/labels/said.h"
#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/sample/event_inside.h"

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

static void put(struct wire_session *session, const char *name) {
    uint64_t n = atomic_fetch_add(&session->marks, 1);
    struct wire_mark *mark = &session->mark[n % WIRE_MARKS];
    uint64_t there = atomic_load_explicit(&mark->number, memory_order_relaxed);
    /* Who is so late that the place is a later one's, or in the middle of a change, gives up: the
     * daemon misses the number, and counts it. */
    if (there > n || !atomic_compare_exchange_strong(&mark->number, &there, WIRE_MARK_WRITING))
        return;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&mark->time_ns, session_clock(), memory_order_relaxed);
    copy_name(mark->name, name);
    atomic_store_explicit(&mark->number, n + 1, memory_order_release);
}

/* To be reported with the next one that is not lost. */
static void lose(void) {
    atomic_fetch_add(&agent.process->marks_lost, 1);
}

/* A program that has just begun attaches by this, if nothing has done so. A child of fork does not:
 * whether it is sampled is left to chance. */
static void mark(struct agent_thread *thread, const void *name) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL && session_is_awaited() && session_attach(false))
        session = session_enter(thread);
    if (session == NULL) {
        lose();
        return;
    }
    atomic_fetch_add(&session->marks_lost, atomic_exchange(&agent.process->marks_lost, 0));
    put(session, name);
    session_leave(thread);
}

void hcct_agent_mark(const char *name) {
    if (name == NULL || *name == '\0')
        return;
    /* a thread that is about to begin or to end may be none of the agent's */
    if (!event_inside(mark, name) && agent_owns_memory())
        lose();
}

void hcct_mark(const char *name) __attribute__((alias("hcct_agent_mark")));
