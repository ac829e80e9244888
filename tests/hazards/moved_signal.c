/*
 * moved_signal.c - threads compute while another takes one signal after the other for itself, and
 * gives them back: whatever uses one of them has to move, and to move its threads' timers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "busy.h"

enum { THREADS = 4, ROUNDS = 60, REALTIME = 8 };

static atomic_bool stop;

static void on_signal(int number) {
    (void)number;
}

static void *work(void *arg) {
    while (!atomic_load(&stop))
        busy(1000);
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

int main(void) {
    pthread_t id[THREADS];
    int returned = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, work, &stop);
    for (int round = 0; round < ROUNDS; round++) {
        take_all_in_turn();
        usleep(300);
    }
    usleep(100000); /* they are profiled again */
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(id[i], &result);
        returned += result == &stop;
    }
    printf("%d\n", returned);
    return 0;
}
