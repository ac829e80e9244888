/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_leave.h - what threads have slept that the end of their process, or of sampling, meets
 * asleep.
 */
#ifndef HCCT_WALL_LEAVE_H
#define HCCT_WALL_LEAVE_H

/* The process is about to end: on the wall clock the time since the last check of each thread is
 * credited to the sleep that it is in, as far as that is known. Keeps errno. Process context, or
 * inside a handler of the application. */
void wall_leave(void);
/* The same where the process goes on, and is not sampled any more; the calling thread's is one of
 * them. While no other thread is inside (confine_hold). */
void wall_leave_held(void);
/* The calling thread's stack is about to go: waits while another thread reads it in wall_leave.
 * Thread context, after the thread's context was given back. */
void wall_leave_wait(void);

#endif
