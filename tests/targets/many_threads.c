/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * many_threads.c - so many threads at once, each with a little work now and then, without end.
 *
 * Usage: many_threads THREADS PAUSE_MS. Prints "ready" when all have worked once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS_MAX 10000

static pthread_barrier_t worked;
static useconds_t pause_us;

static __attribute__((noinline)) void work(void) {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < 10000000; i++)
        sum += i;
}

static void *run(void *unused) {
    work();
    pthread_barrier_wait(&worked);
    for (;;) {
        usleep(pause_us);
        work();
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 0;
    pthread_attr_t small;
    if (argc != 3 || threads < 1 || threads > THREADS_MAX)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause_us = (useconds_t)atoi(argv[2]) * 1000;
    pthread_barrier_init(&worked, NULL, (unsigned)threads + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 17);
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, run, NULL) != 0)
            return 1;
        pthread_detach(thread);
    }
    pthread_barrier_wait(&worked);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
