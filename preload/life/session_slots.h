/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_slots.h - which ring of the session's is a thread's (wire.h, struct wire_slot).
 */
#ifndef HCCT_SESSION_SLOTS_H
#define HCCT_SESSION_SLOTS_H

#include "preload/life/thread.h"

/* The slot of the thread's stream (thread->stream) in the session, claimed when it has none; NULL:
 * no slot is free. Signal context, or thread context while no tick can come, inside the session;
 * for another thread while that is kept out. */
struct wire_slot *session_slot(struct agent_thread *thread, struct wire_session *session);
/* Asks for a slot for each thread that is there now; the daemon makes it soon. Any context, inside
 * the session. */
void session_expect_slots(struct wire_session *session);
/* Nothing more will be written to the thread's slots, which are the daemon's. Any context, inside
 * the session or while nobody else uses it. */
void session_end_slots(struct agent_thread *thread);

#endif
