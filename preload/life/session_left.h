/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_left.h - memory of sessions that were left.
 *
 * Reports of calls write without asking, each thread's until it sees that there is no use in it: so
 * such memory stays until none does, and until the daemon has said, or the kernel, that it will
 * read no more of it (session_free_left). Calls that nobody has read are lost then, and counted: of
 * threads that had left before, because the daemon stood still or was about to end, and of those
 * that have ended themselves. Of samples nothing is written to it, and it goes at once, but for
 * what a daemon that has fallen silent might still read (session.c).
 */
#ifndef HCCT_SESSION_LEFT_H
#define HCCT_SESSION_LEFT_H

#include "preload/life/agent.h"

/* While nobody uses it. Any context. */
void session_left_unmap(const struct agent_left *left);
/* Keeps it until no report writes to it, and if it `waits` until nobody reads it; but no longer
 * than until the next one is left. If it can't be noted just now, it stays as long as the process
 * does. Any context. */
void session_left_keep(const struct agent_left *left, bool waits);

#endif
