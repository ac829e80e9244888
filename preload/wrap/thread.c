/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread.c - a thread's first instruction, seen by standing between its creator and it.
 *
 * The wrapper of the start routine ends in a tail call, so that the thread's stack looks as it
 * would without us.
 */
#include <pthread.h>
#include <threads.h>

#include "preload/context/context.h"
#include "preload/life/agent.h"
#include "preload/life/signal.h"
#include "preload/life/thread.h"
#include "preload/life/thread_life.h"
#include "preload/sample/edge.h"
#include "preload/wrap/real.h"

static void *start_posix(void *arg) {
    struct agent_thread *thread = arg;
    void *(*start)(void *) = thread->start;
    void *argument = thread->argument;
    thread_begin(thread);
    if (thread_self == thread)
        edge_sample(thread, EDGE_CALLER);
    return start(argument);
}

static int start_c11(void *arg) {
    struct agent_thread *thread = arg;
    int (*start)(void *) = thread->start_c11;
    void *argument = thread->argument;
    thread_begin(thread);
    if (thread_self == thread)
        edge_sample(thread, EDGE_CALLER);
    return start(argument);
}

hcct_export int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
                               void *(*start)(void *), void *restrict argument) {
    struct agent_thread *self = thread_self, *thread = thread_reserve(attr);
    const struct event_place caller = EVENT_CALLER;
    uint64_t created_in = thread != NULL ? context_of_creator(&caller) : 0;
    signal_before_thread(self);
    if (thread != NULL) {
        thread->start = start;
        thread->argument = argument;
        thread->created_in = created_in;
    }
    int result = thread != NULL ? real_pthread_create(id, attr, start_posix, thread)
                                : real_pthread_create(id, attr, start, argument);
    signal_after_thread(self);
    if (thread != NULL && result != 0)
        thread_release(thread);
    return result;
}

hcct_export int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
    struct agent_thread *self = thread_self, *thread = thread_reserve(NULL);
    const struct event_place caller = EVENT_CALLER;
    uint64_t created_in = thread != NULL ? context_of_creator(&caller) : 0;
    signal_before_thread(self);
    if (thread != NULL) {
        thread->start_c11 = start;
        thread->argument = argument;
        thread->created_in = created_in;
    }
    int result = thread != NULL ? real_thrd_create(id, start_c11, thread)
                                : real_thrd_create(id, start, argument);
    signal_after_thread(self);
    if (thread != NULL && result != thrd_success)
        thread_release(thread);
    return result;
}
