/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleepy.c - sleeps most of its time, in known places: a third each in poll, nanosleep, and a wait
 * for another thread; and computes in between.
 *
 * Prints the elapsed time of the main thread in each, as "NANOSECONDS FUNCTION".
 *
 *   usage: sleepy SECONDS
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAP_MS 70

static volatile uint64_t sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void compute(void) {
    uint64_t end = now_ns() + NAP_MS * 3 * 1000000ull * 3 / 7; /* 30 % of a round */
    while (now_ns() < end)
        for (unsigned i = 0; i < 5000; i++)
            sink += i;
}

__attribute__((noinline)) static void nap_in_poll(void) {
    if (poll(NULL, 0, NAP_MS) != 0)
        abort();
    sink++;
}

__attribute__((noinline)) static void nap_in_nanosleep(void) {
    struct timespec nap = {0, NAP_MS * 1000000l};
    if (nanosleep(&nap, NULL) != 0)
        abort();
    sink++;
}

__attribute__((noinline)) static void nap_in_wait(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&woken, &lock, &until) == 0)
        ;
    pthread_mutex_unlock(&lock);
    sink++;
}

static const struct {
    const char *name;
    void (*function)(void);
} places[] = {{"compute", compute},
              {"nap_in_poll", nap_in_poll},
              {"nap_in_nanosleep", nap_in_nanosleep},
              {"nap_in_wait", nap_in_wait}};
#define PLACES (sizeof places / sizeof places[0])

int main(int argc, char **argv) {
    uint64_t spent[PLACES] = {0}, end;
    if (argc != 2) {
        fprintf(stderr, "usage: sleepy SECONDS\n");
        return 2;
    }
    end = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
    while (now_ns() < end) {
        for (unsigned i = 0; i < PLACES; i++) {
            uint64_t before = now_ns();
            places[i].function();
            spent[i] += now_ns() - before;
        }
    }
    for (unsigned i = 0; i < PLACES; i++)
        printf("%llu %s\n", (unsigned long long)spent[i], places[i].name);
    return 0;
}
