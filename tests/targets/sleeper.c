/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleeper.c - calls that sleep, ended by time, by data, by another thread or process, or by a
 * signal of this program's own. Prints how each ended: an agent must not be seen in it.
 *
 * Before each call the thread computes, so that it is being profiled when it goes to sleep.
 */
#include "tests/targets/sleeper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BURN_MS  30
#define SLACK_MS 1000 /* a machine that is busy with other things */

static volatile unsigned long sink;

static long long now_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void burn(void) {
    long long start = now_ms(CLOCK_THREAD_CPUTIME_ID);
    while (now_ms(CLOCK_THREAD_CPUTIME_ID) - start < BURN_MS)
        for (int i = 0; i < 10000; i++)
            sink += (unsigned long)i;
}

struct timespec sleeper_ms(long ms) {
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static void run(const struct sleeper_test *test) {
    struct timespec start, end;
    burn();
    clock_gettime(CLOCK_MONOTONIC, &start);
    errno = 0;
    long result = test->call();
    int error = result == -1 ? errno : 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms =
        (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
    printf("%s: %ld %s, time %s\n", test->name, result, strerrorname_np(error),
           ms < (double)test->ms              ? "too short"
           : ms > (double)test->ms + SLACK_MS ? "too long"
                                              : "ok");
    fflush(stdout);
}

static void run_all(const struct sleeper_test *tests, const char *only) {
    for (const struct sleeper_test *test = tests; test->name != NULL; test++)
        if (only == NULL || strstr(test->name, only) != NULL)
            run(test);
}

int main(int argc, char **argv) {
    run_all(sleeper_by_time, argc > 1 ? argv[1] : NULL);
    run_all(sleeper_by_event, argc > 1 ? argv[1] : NULL);
    return 0;
}
