/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * deep.c - computes at the bottom of a deep recursion, direct or over two functions.
 *
 *   usage: deep DEPTH SECONDS [mutual]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;
static uint64_t budget_ns;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void burn(void) {
    do {
        for (unsigned i = 0; i < 50000; i++)
            sink += i;
    } while (cpu_ns() < budget_ns);
}

__attribute__((noinline)) static void direct(unsigned depth) {
    if (depth == 0)
        burn();
    else
        direct(depth - 1);
    sink += 2; /* unlike ping and pong: the compiler makes one function of two equal ones */
}

static void pong(unsigned depth);

__attribute__((noinline)) static void ping(unsigned depth) {
    if (depth == 0)
        burn();
    else
        pong(depth - 1);
    sink++;
}

__attribute__((noinline)) static void pong(unsigned depth) {
    if (depth == 0)
        burn();
    else
        ping(depth - 1);
    sink += 3;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: deep DEPTH SECONDS [mutual]\n");
        return 2;
    }
    budget_ns = (uint64_t)(atof(argv[2]) * 1e9);
    if (argc > 3 && strcmp(argv[3], "mutual") == 0)
        ping((unsigned)atoi(argv[1]));
    else
        direct((unsigned)atoi(argv[1]));
    return 0;
}
