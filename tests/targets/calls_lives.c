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
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO_INLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
static unsigned long *first_calls; /* children count there, too */
static unsigned long second_calls;
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
            ++*first_calls;
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

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    bool naps_between = strcmp(argv[1], "naps") == 0;
    first_calls =
        mmap(NULL, sizeof *first_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (first_calls == MAP_FAILED)
        return 1;
    turn_ms = strtod(argv[2], NULL) / (naps_between ? 1000 : 1);
    if (naps_between)
        naps(strtod(argv[3], NULL));
    else if (strcmp(argv[1], "children") == 0)
        children(atoi(argv[3]));
    else
        lives(atoi(argv[3]));
    printf("%lu %lu\n", *first_calls, second_calls);
    return 0;
}
