/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * moved_signal.c - threads compute while another takes one signal after the other for itself, and
 * gives them back: whatever uses one of them has to move, and to move its threads' timers. One more
 * thread changes the handler of another signal meanwhile: what it has set must stay. With the
 * argument "alone" there is only that thread, and it goes on for longer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "busy.h"

enum { THREADS = 4, ROUNDS = 60, ROUNDS_ALONE = 3000, REALTIME = 8 };

static atomic_bool stop;
static long lost; /* handlers */

static void on_signal(int number) {
    (void)number;
}

static void *work(void *arg) {
    while (!atomic_load(&stop))
        busy(1000);
    return arg;
}

static volatile int last;

static void on_other(int number) {
    last = number;
}

static void *change_handlers(void *arg) {
    for (long n = 0; !atomic_load(&stop); n++) {
        struct sigaction mine = {.sa_handler = n % 2 ? on_signal : on_other}, now;
        sigaction(SIGUSR1, &mine, NULL);
        busy(20000);
        sigaction(SIGUSR1, NULL, &now);
        lost += now.sa_handler != mine.sa_handler;
    }
    return arg;
}

static void take(void (*handler)(int), int first, int count) {
    for (int i = 0; i < count; i++)
        signal(first - i, handler);
}

/* Never all of them at once. */
static void take_all_in_turn(void) {
    static const int classic[] = {SIGPROF, SIGVTALRM, SIGSTKFLT};
    for (int i = 0; i < 3; i++)
        take(on_signal, classic[i], 1);
    for (int i = 0; i < 3; i++)
        take(SIG_DFL, classic[i], 1);
    take(on_signal, SIGRTMAX, REALTIME);
    take(SIG_DFL, SIGRTMAX, REALTIME);
}

int main(int argc, char **argv) {
    pthread_t id[THREADS], changer;
    int returned = 0, threads = THREADS, rounds = ROUNDS;
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        threads = 0;
        rounds = ROUNDS_ALONE;
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, &stop);
    pthread_create(&changer, NULL, change_handlers, NULL);
    for (int round = 0; round < rounds; round++) {
        take_all_in_turn();
        if (threads > 0)
            usleep(300);
    }
    usleep(100000); /* they are profiled again */
    atomic_store(&stop, true);
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(id[i], &result);
        returned += result == &stop;
    }
    pthread_join(changer, NULL);
    printf("%d returned, %ld handlers lost\n", returned, lost);
    return 0;
}
