/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_lives.c - threads that live for a short while, one after another, and the main thread,
 * which computes as long after each; or work of two functions in turns, and a nap after both. Says
 * which function was called how often.
 *
 *   calls_lives threads MS N   each life, and as long in main, N times
 *   calls_lives naps US SECONDS   each function's turn; of CPU time in all
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_INLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
static unsigned long first_calls, second_calls;
static double turn_ms;

NO_INLINE static void first(void) {
    for (int i = 0; i < 200; i++)
        sink++;
}

NO_INLINE static void second(void) {
    for (int i = 0; i < 200; i++)
        sink += 2;
}

static double cpu_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

NO_INLINE static void first_turn(void) {
    double end = cpu_ms() + turn_ms;

    while (cpu_ms() < end)
        for (int i = 0; i < 20; i++) {
            first();
            first_calls++;
        }
}

NO_INLINE static void second_turn(void) {
    double end = cpu_ms() + turn_ms;

    while (cpu_ms() < end)
        for (int i = 0; i < 20; i++) {
            second();
            second_calls++;
        }
}

static void *live(void *arg) {
    first_turn();
    return arg;
}

static void lives(int n) {
    for (int i = 0; i < n; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, live, NULL) != 0)
            exit(1);
        pthread_join(thread, NULL);
        second_turn();
    }
}

static void naps(double seconds) {
    const struct timespec time = {.tv_nsec = 300000};

    while (cpu_ms() < 1000 * seconds) {
        first_turn();
        second_turn();
        nanosleep(&time, NULL);
    }
}

int main(int argc, char **argv) {
    bool threads = argc == 4 && strcmp(argv[1], "threads") == 0;

    if (argc != 4)
        return 2;
    turn_ms = strtod(argv[2], NULL) / (threads ? 1 : 1000);
    if (threads)
        lives(atoi(argv[3]));
    else
        naps(strtod(argv[3], NULL));
    printf("%lu %lu\n", first_calls, second_calls);
    return 0;
}
