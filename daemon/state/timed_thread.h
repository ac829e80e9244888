/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * timed_thread.h - a thread that sleeps until its work is due, and can be ended meanwhile.
 *
 * Its lock is held while `stop` is read or set: no other lock is taken within it.
 */
#ifndef HCCT_TIMED_THREAD_H
#define HCCT_TIMED_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Private. Begins as TIMED_THREAD_NONE, and stays at one address. */
struct timed_thread {
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, stop;
};

#define TIMED_THREAD_NONE                                                                          \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* Starts the thread, once, which calls run(NULL). False: there is none to be had. The starter. */
bool timed_thread_start(struct timed_thread *thread, void *(*run)(void *unused));

/* Sleeps until `due_ns` of CLOCK_MONOTONIC (clock.h). False: the thread is to end. The thread
 * itself. */
bool timed_thread_wait(struct timed_thread *thread, uint64_t due_ns);

/* Ends the thread and waits for that. False: it was not started. The starter. */
bool timed_thread_stop(struct timed_thread *thread);

#endif
