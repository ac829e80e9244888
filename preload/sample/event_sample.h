/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_sample.h - samples that an event asks for, by a library that stands before functions of
 * libc (preload/events/link.h).
 *
 * Unlike a tick they come where the program is in a call, which may be one that its signal handler
 * makes, or the loader. No signal comes meanwhile; nothing is allocated, and no lock is taken.
 */
#ifndef HCCT_EVENT_SAMPLE_H
#define HCCT_EVENT_SAMPLE_H

#include <stdbool.h>

/* Makes itself known to the libraries of the events that are to be sampled. Metrics whose library
 * is not there are left out, and it is said. False: none is left, the process is not profiled.
 * Process context. */
bool event_sample_start(void);

/* Nothing more is sampled: an agent leaves that was attached, or is in a child of its process. Any
 * context. */
void event_sample_stop(void);

/* Waits for the unwind tables of what is loaded, as a program begins, where events are sampled or
 * functions of Python are asked for: until they are there each sample is a copy of the stack, which
 * soon finds no room, and has no such functions. Process context, attached. */
void event_sample_await(void);

struct agent_thread;
struct wire_session;

/* session_enter(), which looks for a daemon where there is no session. One that was not there
 * before learns what its parent's, or this one's last, knew. Signal context, as event_inside() has
 * it. */
struct wire_session *event_session_enter(struct agent_thread *thread);

#endif
