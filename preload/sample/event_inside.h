/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_inside.h - the agent at work inside a call of the application, which may be one that its
 * signal handler makes, or the loader.
 */
#ifndef HCCT_EVENT_INSIDE_H
#define HCCT_EVENT_INSIDE_H

#include <stdbool.h>

struct agent_thread;
struct wire_slot;

typedef void event_function(struct agent_thread *thread, const void *argument);

/* Calls function(thread, argument), with no signal meanwhile, on a stack that has room. False: this
 * is no time for that, nothing was called. Thread context, or inside a handler of the application.
 */
bool event_inside(event_function *function, const void *argument);

/* What the thread's CPU time has grown by since event_inside, or since the last call of this, is
 * what its samples of events cost (WIRE_HANDLER_NS): one call in so many is measured, and stands
 * for all. Within such a function; NULL: it is counted nowhere. */
void event_charge(struct agent_thread *thread, struct wire_slot *slot);

#endif
