/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ready.h - modules that become ready to be redirected. Private to this room.
 */
#ifndef HCCT_REDIRECT_READY_H
#define HCCT_REDIRECT_READY_H

#include <stdbool.h>

struct agent_thread;
struct wire_session;

/* Each module of the log has had its answer: the daemon has said where its calls are, and they are
 * redirected, or why not. Any context, inside the session. */
bool ready_is_all_answered(const struct agent_thread *thread, struct wire_session *session);
/* One of them may have gone and come again: all are asked for anew. Any context. */
void ready_ask_anew(void);

/* In a child of fork, whose sessions are numbered anew. `all`: it has all that its parent had
 * redirected, and need not wait for the daemon to say so in its own session. */
void ready_after_fork_child(bool all);
/* The same is true now. Any context. */
bool ready_is_as_in_parent(void);
/* It is not any more: an object is opened. Any context. */
void ready_differ_from_parent(void);

#endif
