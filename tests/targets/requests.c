/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * requests.c - a thread for each request, as servers of that kind have: it parses, waits, answers,
 * some times over, and ends after a few milliseconds of CPU time.
 *
 *   usage: requests REQUESTS AT_ONCE
 *
 * Writes the CPU time in ns that parsing and answering have taken, by the threads' own clocks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  5
#define WAIT_US 1000
#define AT_ONCE 64

static _Atomic uint64_t parsed_ns, answered_ns;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t turn(uint64_t x, uint32_t times) {
    for (uint32_t i = 0; i < times; i++)
        x = x * 6364136223846793005u + i;
    return x;
}

__attribute__((noinline)) static uint64_t parse(uint64_t x) {
    uint64_t began = cpu_ns();
    x = turn(x, 200000);
    parsed_ns += cpu_ns() - began;
    return x;
}

__attribute__((noinline)) static uint64_t answer(uint64_t x) {
    uint64_t began = cpu_ns();
    x = turn(x, 100000);
    answered_ns += cpu_ns() - began;
    return x;
}

static void *serve(void *arg) {
    uint64_t x = (uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        x = parse(x);
        usleep(WAIT_US);
        x = answer(x);
    }
    return (void *)(uintptr_t)x;
}

int main(int argc, char **argv) {
    static pthread_t thread[AT_ONCE];
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    unsigned at_once = argc > 2 ? (unsigned)atoi(argv[2]) : 8;
    if (at_once == 0 || at_once > AT_ONCE)
        return 2;
    for (unsigned i = 0; i < n + at_once; i++) {
        if (i >= at_once && i - at_once < n)
            pthread_join(thread[i % at_once], NULL);
        if (i < n && pthread_create(&thread[i % at_once], NULL, serve, (void *)(uintptr_t)i) != 0)
            return 1;
    }
    printf("%llu %llu\n", (unsigned long long)parsed_ns, (unsigned long long)answered_ns);
    return 0;
}
