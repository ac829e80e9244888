/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session.h - the session with a daemon: found, used, lost, replaced.
 */
#ifndef HCCT_SESSION_H
#define HCCT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

/* Looks for a daemon, when the last attempt was long enough ago or `now` is set, and attaches to
 * its session. Waits for an answer at most 100 ms the first time in a process (a second where all
 * is to be seen), and later, when it is in the middle of its work, as patience.h says. Any context,
 * signals blocked or not. */
bool session_attach(bool now);

/* The process has looked for a daemon. Any context. */
static inline bool session_was_looked_for(void) {
    return atomic_load_explicit(&agent.process->last_try_ns, memory_order_relaxed) != 0;
}

/* It had a session; one that it enters now it still has. Any context. */
static inline bool session_was_lost(void) {
    return session_was_looked_for() && atomic_load(&agent.process->epoch) != 0;
}

/* Of the sessions that the process has had: so many. Any context. */
static inline uint32_t session_epoch(void) {
    return atomic_load(&agent.process->epoch);
}

/* The program was executed not long ago, and attaches at its first tick, whatever that finds: no
 * sample depends on it. Any context. */
static inline bool session_is_awaited(void) {
    return agent.process->awaits && !session_was_looked_for();
}

/* Enters the session for the calling thread: NULL when there is none, the daemon is dead, or it is
 * being replaced. Otherwise session_leave must follow, soon. May be nested, in the handler, too.
 * Signal context, or thread context while no tick can come. */
struct wire_session *session_enter(struct agent_thread *thread);
/* The same for one session and no other. False: it has been left, or its daemon is dead. Any
 * context. */
bool session_hold(struct agent_thread *thread, struct wire_session *session);
void session_leave(struct agent_thread *thread);
/* The same without a promise: it may be replaced at any moment, but its memory stays as long as
 * calls_use() it. Any context. */
bool session_seems_alive(struct wire_session *session);
/* Gives back the memory of sessions that were left, as far as no thread uses it. Any context. */
void session_free_left(void);

/* Reports what children that had no session have left (child_ends.h), also those of its children
 * that had none. Thread context. */
void session_hear_children(void);
/* The process is about to end: the daemon may not see it again before it is gone. Thread context.
 */
void session_note_end(struct agent_thread *thread);

/* The last session's daemon has not ended, as far as is known: it has not been heard of for too
 * long. Any context. */
bool session_fell_silent(void);
/* While there is no session since then: what is not sampled is noted for the daemon where it may
 * still find it, should there be no other session (unsampled.h). Any context. */
void session_note_unsampled(void);

/* No thread enters the session until session_show, and its mappings have no rights, so that locking
 * all memory does not fill them; but for the slots that are ready where calls are counted, as their
 * reports write without asking. False: there is none, or it can't be left. Thread context. */
bool session_hide(void);
/* After it: the mappings are not locked. Thread context. */
void session_show(void);
/* While it is hidden: it goes, and the next one has the size that the limits allow then. Thread
 * context. */
void session_drop(void);
/* The same, but there will be no other. */
void session_leave_for_good(void);

/* The agent leaves a process that goes on; there is no other session until session_may_begin().
 * Thread context, while no other thread is inside (confine_hold). */
void session_give_back(void);
void session_may_begin(void);
/* The thread ends: its slots are the daemon's. Thread context. */
void session_give_slot(struct agent_thread *thread);
/* Another thread has ended, without a word: its slots are the daemon's. Signal context. */
void session_give_slot_of(struct agent_thread *ended);

/* Around a fork, which is counted: the child is not to have descriptors of a handshake that another
 * thread makes. One that is under way is waited for, as long as an answer may take. Thread context,
 * our signal blocked; none of both in a child. */
void session_before_fork(void);
void session_after_fork(void);

/* Another thread changes the session, uses it alone, or forks, for a while. Any context. */
bool session_is_held(void);

/* Where session_enter has found none: another thread looks for one now, or has found one since
 * session_epoch() was `before`, so that there may be one a moment later. Any context. */
bool session_may_come(uint32_t before);

/* Its daemon has said goodbye or was killed: nothing is to be written to it any more. Any context,
 * while both are mapped. */
bool session_was_ended(struct wire_session *session, const struct wire_arena *arena);
/* The same, and nothing of it will be read any more. */
bool session_was_read(struct wire_session *session, const struct wire_arena *arena);
/* Its daemon has ended, or has not been heard of for so long that it seems so. Any context, inside
 * the session or while nobody can replace it. */
bool session_is_dead(struct wire_session *session);

/* Reports labels that have found no place, or can have none. Any context, inside the session. */
static inline void session_tell_labels(struct wire_session *session) {
    _Atomic uint64_t *other = &agent.process->labels_other;
    _Atomic uint64_t *invalid = &agent.process->labels_invalid;
    if (hcct_unlikely(atomic_load_explicit(other, memory_order_relaxed) != 0))
        atomic_fetch_add(&session->labels_other, atomic_exchange(other, 0));
    if (hcct_unlikely(atomic_load_explicit(invalid, memory_order_relaxed) != 0))
        atomic_fetch_add(&session->labels_invalid, atomic_exchange(invalid, 0));
}

/* Reports calls that nobody has read. Any context, inside the session. */
static inline void session_tell_lost(struct wire_session *session) {
    _Atomic uint64_t *lost = &agent.process->lost;
    if (hcct_unlikely(atomic_load_explicit(lost, memory_order_relaxed) != 0))
        atomic_fetch_add(&session->lost, atomic_exchange(lost, 0));
}

/* The daemon and the program want samples; the daemon learns it here. Any context, inside the
 * session.
 */
static inline bool session_is_on(struct wire_session *session) {
    uint32_t stopped = atomic_load_explicit(&agent.stopped, memory_order_relaxed);
    uint32_t control = atomic_load_explicit(&session->control, memory_order_relaxed);
    if (hcct_unlikely(atomic_load_explicit(&session->stopped, memory_order_relaxed) != stopped))
        atomic_store_explicit(&session->stopped, stopped, memory_order_relaxed);
    return (control & WIRE_CONTROL_ON) != 0 && stopped == 0;
}

/* A sample of that weight is lost, as its thread has no slot. Any context, inside the session. */
static inline void session_lose(struct agent_thread *thread, struct wire_session *session,
                                uint64_t weight) {
    atomic_fetch_add(&session->lost_ns[thread->stream - thread->streams], weight);
}

static inline void session_count(struct wire_slot *slot, enum wire_counter which, uint64_t n) {
    /* only the owner counts: no read-modify-write needed */
    uint64_t old = atomic_load_explicit(&slot->counter[which], memory_order_relaxed);
    atomic_store_explicit(&slot->counter[which], old + n, memory_order_relaxed);
}

#endif
