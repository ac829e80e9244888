/*
 * moved_signal.c - threads compute while another takes one signal after the other for itself, and
 * gives them back: whatever uses one of them has to move, and to move its threads' timers. One more
 * thread changes the handlers of other signals meanwhile: what it has set must stay.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "busy.h"

enum { THREADS = 4, ROUNDS = 150, REALTIME = 8 };

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
    static const int others[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD, SIGCONT, SIGHUP};
    for (long n = 0; !atomic_load(&stop); n++) {
        struct sigaction mine = {.sa_handler = n % 2 ? on_signal : on_other}, now;
        int number = others[n % 6];
        sigaction(number, &mine, NULL);
        busy(20000);
        sigaction(number, NULL, &now);
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

int main(void) {
    pthread_t id[THREADS], changer;
    int returned = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, work, &stop);
    pthread_create(&changer, NULL, change_handlers, NULL);
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
    pthread_join(changer, NULL);
    printf("%d returned, %ld handlers lost\n", returned, lost);
    return 0;
}
