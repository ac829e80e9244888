/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_life.h - birth and end of a thread, as far as it is profiled.
 */
#ifndef HCCT_THREAD_LIFE_H
#define HCCT_THREAD_LIFE_H

#include <pthread.h>
#include <stdbool.h>

#include "preload/life/thread.h"

/* A context for a thread to be, created with `attr` (NULL: default attributes). NULL: it can not be
 * profiled (no memory). Thread context. */
struct agent_thread *thread_reserve(const pthread_attr_t *attr);

/* The calling thread is alive: starts its timer. Thread context, on the thread itself. */
void thread_begin(struct agent_thread *thread);
/* The calling thread is about to end. */
void thread_end(struct agent_thread *thread);

/* The calling thread leaves the profile, and keeps its context; and is there again. Thread context.
 */
void thread_step_out(struct agent_thread *thread);
void thread_step_in(struct agent_thread *thread);

/* The main thread's context and what ends a thread's; false: the process can't be profiled.
 * Process context. */
bool thread_start_main(void);

/* The same for a process that ran already, where a key can be had: threads begin and end then as in
 * another one (late.h). Process context. */
void thread_start_late(void);
/* The calling thread, which ran already, has that context; where that can be known in a handler,
 * its end gives it back. Signal context. */
void thread_note_end(struct agent_thread *thread);

/* The bounds of the main thread's stack, on any thread. Any context. */
void thread_find_main_stack(struct agent_thread *thread);

/* The key of that is given up: the process has fallen silent (silence.h). False: there was none.
 * Thread context. */
bool thread_give_key(void);

#endif
