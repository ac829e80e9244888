/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lines.c - one function whose lines take known shares of its time: two loops and an inlined
 * function.
 *
 *   lines SECONDS
 *
 * Prints for each part its name, its first and last line, and the CPU time that it took in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNIT 400000 /* rounds; about a millisecond: far more than it takes to read the clock */

enum part { FIRST, SECOND, INLINED, PARTS };

static struct {
    const char *name;
    unsigned begin, end; /* lines */
    uint64_t ns;
} parts[PARTS] = {{"first", 0, 0, 0}, {"second", 0, 0, 0}, {"inlined", 0, 0, 0}};

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Each value needs the one before, so that no compiler makes several at a time. */
__attribute__((always_inline)) static inline uint64_t churn(uint64_t x) {
    parts[INLINED].begin = __LINE__;
    for (uint32_t i = 0; i < 5 * UNIT; i++)
        x = x * 6364136223846793005u + (x >> 29);
    parts[INLINED].end = __LINE__;
    return x;
}

__attribute__((noinline)) static uint64_t work(uint64_t x) {
    uint64_t begin = cpu_ns();
    parts[FIRST].begin = __LINE__;
    for (uint32_t i = 0; i < 7 * UNIT; i++)
        x = x * 2862933555777941757u + (x >> 31);
    parts[FIRST].end = __LINE__;
    uint64_t first = cpu_ns();
    parts[SECOND].begin = __LINE__;
    for (uint32_t i = 0; i < 3 * UNIT; i++)
        x = x * 3935559000370003845u + (x >> 27);
    parts[SECOND].end = __LINE__;
    uint64_t second = cpu_ns();
    x = churn(x);
    parts[FIRST].ns += first - begin;
    parts[SECOND].ns += second - first;
    parts[INLINED].ns += cpu_ns() - second;
    return x;
}

int main(int argc, char **argv) {
    uint64_t limit = (uint64_t)((argc > 1 ? strtod(argv[1], NULL) : 1) * 1e9), x = 1;
    while (cpu_ns() < limit)
        x = work(x);
    for (int i = 0; i < PARTS; i++)
        printf("%s %u %u %llu\n", parts[i].name, parts[i].begin, parts[i].end,
               (unsigned long long)parts[i].ns);
    return x == 0;
}
