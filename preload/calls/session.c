/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session.c - the session that a thread's calls are sent to, and its loss.
 *
 * hcctd may end at any moment. A thread checks for it when its ring is full, once in so many calls,
 * and at its ticks. Until then it writes where nobody reads, into memory that stays as long as a
 * thread names its session. What was written and not read is counted, and reported to the next
 * session.
 */
#include "preload/calls/calls.h"

#include "common/wire/ring.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/redirect/redirect.h"

bool calls_use(const struct wire_session *session) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        struct calls *c = t->calls;
        if (c != NULL && atomic_load(&c->session) == session)
            return true;
    }
    return false;
}

bool calls_is_read(struct calls *c) {
    if (!session_hold(c->thread, c->session))
        return false;
    session_leave(c->thread);
    return true;
}

void calls_use_slot(struct calls *c, struct wire_session *session, struct wire_slot *slot) {
    struct agent_thread *thread = c->thread;
    if (c->session == session && c->slot == slot)
        return;
    c->arena = atomic_load(&agent.process->arena);
    c->session = session;
    c->slot = slot;
    c->head = thread->stream->head;
    c->generation = 0;
    c->code_start = c->code_bytes = 0;
    c->cursor = c->common = c->base + 1;
    c->until = agent.settings.every;
    c->sampled = agent.settings.every > 1 || agent.settings.credit == WIRE_CREDIT_NEW;
    c->at = c->limit = NULL;
    c->committing = 0;
    session_tell_lost(session);
}

/* A daemon that stands still, or is about to end, may yet read them: what it has left in the end is
 * counted where the session's memory goes (session_left.h), as is what others have left there. */
static void count_unread(struct calls *c) {
    if (c->slot == NULL || c->arena == NULL || !session_was_read(c->session, c->arena))
        return;
    atomic_fetch_add(&agent.process->lost, ring_unread(c->slot, CALLS_RING, c->head));
    ring_consume(c->slot, c->head);
}

/* The hot path finds no room then, and the next report no session. */
void calls_leave_session(struct calls *c) {
    redirect_leave(c);
    if (c->session == NULL)
        return;
    calls_write_back(c);
    count_unread(c);
    c->thread->stream->head = c->head;
    c->at = c->limit = NULL;
    c->slot = NULL;
    atomic_store(&c->session, NULL);
    if (!confine_is_quiet())
        session_free_left();
}

bool calls_lose(struct calls *c) {
    if (c->thread == thread_self)
        calls_self = NULL;
    calls_burst_end(c->thread);
    calls_leave_session(c);
    calls_clear(c);
    return false;
}
