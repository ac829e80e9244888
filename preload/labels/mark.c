/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark.c - a moment that the application marks. Any thread, and handlers of signals.
 */
#include "preload/labels/marks.h"
#include "preload/labels/said.h"
#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/sample/event_inside.h"

/* A program may sleep between its marks, so that no tick looks for a daemon: one does that as often
 * as ticks do. A child of fork does not: whether it is sampled is left to chance. */
static void mark(struct agent_thread *thread, const void *name) {
    struct wire_session *session = session_enter(thread);
    if (session == NULL && agent.process->awaits && session_attach(false))
        session = session_enter(thread);
    if (session == NULL) {
        marks_keep(name);
        return;
    }
    marks_send(session);
    marks_put(session, name);
    session_leave(thread);
}

void hcct_agent_mark(const char *name) {
    if (name == NULL || *name == '\0')
        return;
    /* a thread that is about to begin or to end may be none of the agent's */
    if (!event_inside(mark, name) && agent_owns_memory())
        marks_lose();
}

void hcct_mark(const char *name) __attribute__((alias("hcct_agent_mark")));
