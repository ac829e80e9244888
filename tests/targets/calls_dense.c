/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_dense.c - phases of hardly anything but calls beside phases of few; or short work between
 * naps. Says how many calls it has made.
 *
 *   calls_dense dense ROUNDS   each some milliseconds
 *   calls_dense naps SECONDS   of CPU time
 *   calls_dense sleeps SECONDS the same, with longer sleeps, and a little more work in between
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_INLINE __attribute__((noinline, noclone))

static volatile uint64_t state;
static uint64_t calls;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

NO_INLINE static void tiny(void) {
    state++;
}

NO_INLINE static void large(void) {
    for (int i = 0; i < 5000; i++)
        state++;
}

NO_INLINE static void many(void) {
    for (int i = 0; i < 1000000; i++)
        tiny();
    calls += 1000000;
}

NO_INLINE static void few(void) {
    for (int i = 0; i < 200; i++)
        large();
    calls += 200;
}

NO_INLINE static void nap(long us) {
    const struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

NO_INLINE static void work_and_nap(int calls_of_large, long us, double limit) {
    while (cpu_seconds() < limit) {
        for (int i = 0; i < calls_of_large; i++)
            large();
        nap(us);
    }
}

int main(int argc, char **argv) {
    double limit = argc > 2 ? strtod(argv[2], NULL) : 1;
    if (argc > 1 && strcmp(argv[1], "naps") == 0)
        work_and_nap(10, 100, limit);
    else if (argc > 1 && strcmp(argv[1], "sleeps") == 0)
        work_and_nap(37, 4000, limit);
    else
        for (double i = 0; i < limit; i++) {
            many();
            few();
        }
    printf("%llu\n", (unsigned long long)calls);
    return 0;
}
