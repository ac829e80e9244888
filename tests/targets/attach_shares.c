/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_shares.c - a program of known shares that runs until SIGTERM, and then says by its own
 * clock what each function has used.
 *
 * The main thread and one that was there before anybody can attach share the work; a third begins
 * on SIGUSR2, and does work of its own. On SIGUSR1 the counting begins anew. Prints
 * "name nanoseconds" for each.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t over, anew;
static _Atomic uint64_t used[3];
static volatile double sink;
static _Atomic int go_late;

static void on_signal(int signal) {
    if (signal == SIGTERM)
        over = 1;
    else if (signal == SIGUSR1)
        anew = 1;
    else
        atomic_store(&go_late, 1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#define WORK(name, which)                                                                          \
    __attribute__((noinline, noclone)) static void name(int rounds) {                              \
        uint64_t began = now();                                                                    \
        for (int i = 0; i < rounds * 1000; i++)                                                    \
            sink += i * (which + 1.5);                                                             \
        atomic_fetch_add(&used[which], now() - began);                                             \
    }

WORK(often, 0)
WORK(seldom, 1)
WORK(later, 2)

static void begin_anew(void) {
    for (int i = 0; i < 3; i++)
        atomic_store(&used[i], 0);
    anew = 0;
}

static void *share(void *is_main) {
    for (unsigned turn = 0; !over; turn++) {
        if (is_main != NULL && anew)
            begin_anew();
        often(9000 + (int)(turn * 7919 % 2111));
        seldom(4000 + (int)(turn * 104729 % 997));
    }
    return NULL;
}

static void *late(void *unused) {
    while (!over)
        later(5000);
    return unused;
}

static void *wait_for_late(void *unused) {
    pthread_t thread;
    while (!over && atomic_load(&go_late) == 0)
        usleep(10000);
    if (over)
        return unused;
    pthread_create(&thread, NULL, late, NULL);
    pthread_join(thread, NULL);
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t other, waits;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    pthread_create(&other, NULL, share, NULL);
    pthread_create(&waits, NULL, wait_for_late, NULL);
    share((char[]){0});
    pthread_join(other, NULL);
    pthread_join(waits, NULL);
    printf("often %llu\nseldom %llu\nlater %llu\n", (unsigned long long)used[0],
           (unsigned long long)used[1], (unsigned long long)used[2]);
    return 0;
}
