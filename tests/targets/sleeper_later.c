/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper_later.c - one thread that sleeps, acts, and may do so again.
 */
#include "tests/targets/sleeper_later.h"

#include <errno.h>
#include <pthread.h>

#include "tests/targets/sleeper.h"

static struct later {
    pthread_t thread;
    void (*act)(void);
    bool again; /* every SLEEPER_EVENT ms until it is stopped */
    _Atomic bool stop;
} later;

static void *later_thread(void *unused) {
    struct timespec event = sleeper_ms(SLEEPER_EVENT);
    do {
        nanosleep(&event, NULL);
        if (!later.stop)
            later.act();
    } while (later.again && !later.stop);
    return unused;
}

void begin_later(void (*act)(void), bool again) {
    later.act = act;
    later.again = again;
    later.stop = false;
    pthread_create(&later.thread, NULL, later_thread, NULL);
}

void end_later(bool stop) {
    int saved = errno;
    later.stop = stop;
    pthread_join(later.thread, NULL);
    errno = saved;
}
