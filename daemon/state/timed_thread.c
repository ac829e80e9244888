/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * timed_thread.c - a condition that is waited for until a moment.
 */
#include "daemon/state/timed_thread.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "common/base/clock.h"

bool timed_thread_start(struct timed_thread *thread, void *(*run)(void *unused)) {
    thread->started = pthread_create(&thread->id, NULL, run, NULL) == 0;
    return thread->started;
}

bool timed_thread_wait(struct timed_thread *thread, uint64_t due_ns) {
    const struct timespec due = {(time_t)(due_ns / CLOCK_SECOND), (long)(due_ns % CLOCK_SECOND)};
    int waited = 0;
    pthread_mutex_lock(&thread->lock);
    while (!thread->stop && waited != ETIMEDOUT)
        waited = pthread_cond_clockwait(&thread->changed, &thread->lock, CLOCK_MONOTONIC, &due);
    bool go_on = !thread->stop;
    pthread_mutex_unlock(&thread->lock);
    return go_on;
}

bool timed_thread_stop(struct timed_thread *thread) {
    if (!thread->started)
        return false;
    pthread_mutex_lock(&thread->lock);
    thread->stop = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->id, NULL);
    thread->started = false;
    return true;
}
