/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_lives.c - threads that live for a short while, one after another, and the main thread,
 * which computes as long after each; or work of two functions in turns, and a nap after both. Says
 * which function was called how often.
 *
 *   calls_lives threads CALLS N   each life, and as many in main, N times: a life that went by the
 *                                 clock would have the fewer calls the more of them are followed
 *   calls_lives children CALLS N
 *   calls_lives naps US SECONDS   each function's turn; of CPU time in all
 *   calls_lives pace              only says how many calls take a millisecond
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE   20
#define NO_INLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
static unsigned long *first_calls; /* children count there, too */
static unsigned long second_calls;
static double turn_ms;  /* a turn is over then, ... */
static long turn_calls; /* ... or after so many calls; 0: it goes by the clock */

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

/* Since its beginning it has made `calls`. */
static bool is_over(double end_ms, long calls) {
    return turn_calls == 0 ? cpu_ms() >= end_ms : calls >= turn_calls;
}

NO_INLINE static void first_turn(void) {
    double end = cpu_ms() + turn_ms;
    for (long calls = 0; !is_over(end, calls); calls += AT_ONCE)
        for (int i = 0; i < AT_ONCE; i++) {
            first();
            ++*first_calls;
        }
}

NO_INLINE static void second_turn(void) {
    double end = cpu_ms() + turn_ms;
    for (long calls = 0; !is_over(end, calls); calls += AT_ONCE)
        for (int i = 0; i < AT_ONCE; i++) {
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

static void children(int n) {
    for (int i = 0; i < n; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            first_turn();
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(1);
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

static void pace(void) {
    turn_ms = 50;
    first_turn();
    printf("%ld\n", (long)((double)*first_calls / turn_ms));
}

int main(int argc, char **argv) {
    first_calls =
        mmap(NULL, sizeof *first_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (first_calls == MAP_FAILED)
        return 1;
    if (argc == 2 && strcmp(argv[1], "pace") == 0) {
        pace();
        return 0;
    }
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "naps") == 0) {
        turn_ms = strtod(argv[2], NULL) / 1000;
        naps(strtod(argv[3], NULL));
    } else {
        turn_calls = atol(argv[2]);
        (strcmp(argv[1], "children") == 0 ? children : lives)(atoi(argv[3]));
    }
    printf("%lu %lu\n", *first_calls, second_calls);
    return 0;
}
