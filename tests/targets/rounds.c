/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * rounds.c - computes at the bottom of a deep recursion, then at the top of the stack, in turns.
 *
 *   usage: rounds FRAMES MILLISECONDS SECONDS
 *
 * A turn takes about MILLISECONDS of CPU time at the bottom and the same at the top. Prints the CPU
 * time in ns that was used in below() and in above().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t burn(uint64_t ns) {
    uint64_t begin = cpu_ns(), now;
    do {
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
        now = cpu_ns();
    } while (now - begin < ns);
    return now - begin;
}

__attribute__((noinline)) static uint64_t above(uint64_t ns) {
    uint64_t used = burn(ns);
    sink++;
    return used;
}

/* The way down and up belongs to it: time is taken outside. */
__attribute__((noinline)) static void below(unsigned depth, uint64_t ns) {
    if (depth == 0)
        burn(ns);
    else
        below(depth - 1, ns);
    sink += 2;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    unsigned depth = (unsigned)atoi(argv[1]);
    uint64_t ns = (uint64_t)(atof(argv[2]) * 1e6), total = (uint64_t)(atof(argv[3]) * 1e9);
    uint64_t deep = 0, shallow = 0;
    srand48(depth);
    while (deep + shallow < total) {
        uint64_t begin = cpu_ns(), turn = (uint64_t)((double)ns * (0.8 + 0.4 * drand48()));
        below(depth, turn);
        deep += cpu_ns() - begin;
        shallow += above(turn);
    }
    printf("%llu %llu\n", (unsigned long long)deep, (unsigned long long)shallow);
    return 0;
}
