/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cancelled_busy.c - threads that may be cancelled at any moment are, while they compute: which
 * signals their cleanups find blocked.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 400

static atomic_int cleaned, with_blocked;
static volatile uint64_t sink;

/* But for the signal by which libc cancels. */
static void look(void *unused) {
    (void)unused;
    sigset_t blocked;
    bool any = false;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < SIGRTMIN - 2; number++)
        any |= sigismember(&blocked, number) == 1;
    cleaned++;
    with_blocked += any;
}

static void *compute(void *begun) {
    int before;
    pthread_cleanup_push(look, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    atomic_store((atomic_bool *)begun, true);
    for (;;)
        sink += 1;
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    for (int i = 0; i < THREADS; i++) {
        atomic_bool begun = false;
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, compute, &begun) != 0)
            return 1;
        while (!atomic_load(&begun))
            usleep(100);
        usleep(500 + 7 * (unsigned)i);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            return 2;
    }
    printf("%d cleaned up, %d with signals blocked\n", cleaned, with_blocked);
    return 0;
}
