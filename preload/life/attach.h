/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.h - the daemon is looked for in the middle of a program, and what it learns then.
 */
#ifndef HCCT_ATTACH_H
#define HCCT_ATTACH_H

#include <stdbool.h>

/* A program that was executed is about to confine itself: the daemon is looked for now, if that has
 * not been done. Thread context. */
void agent_announce(void);
/* The same before it changes what it may reach (its user, its root), and for a child of fork, too:
 * servers start their workers so. Thread context. */
void agent_announce_child(void);

/* The session, if there is one, learns the objects that are loaded. Process context, or thread
 * context while no tick can come. */
void agent_learn_modules(void);

/* After signal_block_for_fork. Thread context. */
void agent_unblock(void);

#endif
