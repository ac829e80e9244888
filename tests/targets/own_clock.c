/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_clock.c - a program that stands before libc with a function of its own, which calls another:
 * a clock by libc's syscall(), or memcpy (MEMORY).
 *
 *   usage: own_clock ROUNDS
 *          own_memory ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

NOINLINE static void leaf(unsigned n) {
    sink += n;
}

#ifdef MEMORY

NOINLINE void *memcpy(void *to, const void *from, size_t n) {
    volatile char *t = to;
    const volatile char *f = from;
    leaf(1);
    while (n-- > 0)
        *t++ = *f++;
    return to;
}

#else

NOINLINE int clock_gettime(clockid_t clock, struct timespec *time) {
    leaf(1);
    return (int)syscall(SYS_clock_gettime, clock, time);
}

#endif

int main(int argc, char **argv) {
    struct timespec now;
    char from[64] = "x", to[64];
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    for (unsigned i = 0; i < rounds; i++) {
        leaf(i);
        if (i % 16384 == 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            memcpy(to, from, 1 + (size_t)argc * 8);
            usleep(1);
        }
    }
    printf("%c\n", to[0]);
    return 0;
}
