/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * short_calls.c - calls of some 10 us, one after another, with less between them, and a nap after
 * some: a tick that is late by more than that comes in another call than its point.
 *
 *   usage: short_calls SECONDS
 *
 * Prints the CPU time in ns that was used in read, by the thread's own clock but without what it
 * takes to read that, and all of it.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static char bytes[200000];

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define CLOCK_READS 1000

static uint64_t clock_ns(void) {
    uint64_t begin = now_ns();
    for (unsigned i = 1; i < CLOCK_READS; i++)
        now_ns();
    return (now_ns() - begin) / CLOCK_READS;
}

__attribute__((noinline)) static uint64_t read_some(int file) {
    uint64_t begin = now_ns();
    if (read(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
        abort();
    return now_ns() - begin;
}

__attribute__((noinline)) static void between(void) {
    for (unsigned i = 0; i < 3000; i++)
        sink += i;
}

int main(int argc, char **argv) {
    uint64_t end = (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9), in_read = 0, now;
    uint64_t reads = 0, clock = clock_ns();
    int file = open("/dev/zero", O_RDONLY);
    while ((now = now_ns()) < end) {
        for (unsigned i = 0; i < 4; i++, reads++) {
            in_read += read_some(file);
            between();
        }
        poll(NULL, 0, 1);
    }
    printf("%llu %llu\n", (unsigned long long)(in_read - reads * clock), (unsigned long long)now);
    return 0;
}
