/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stretches.c - a thread that naps, and works between naps for stretches of several lengths.
 *
 *   usage: stretches KIND SECONDS
 *
 * Prints for how many microseconds each function has worked: by turns of loops, whatever else took
 * the thread's time.
 *
 *   short    each stretch is first, second and third: 8, 16 and 40 us
 *   seldom   the same, but one stretch in 24 is a long one of 1.5 ms
 *   woken    the same, but one nap in 12 is a recv that times out, which the kernel does at its
 *            ticks, and is followed by 1 ms in early, and 0.5 ms in late
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define RUNS 50

static double turns_of_us;

#define WORK(name)                                                                                 \
    static uint64_t worked_##name;                                                                 \
    __attribute__((noinline, noclone)) static void name(unsigned us) {                             \
        for (uint64_t i = 0, turns = (uint64_t)(us * turns_of_us); i < turns; i++)                 \
            __asm__ volatile("" : "+r"(i));                                                        \
        worked_##name += us;                                                                       \
    }
WORK(first)
WORK(second)
WORK(third)
WORK(seldom)
WORK(early)
WORK(late)

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* By the fastest of some runs: the others were interrupted. */
__attribute__((noinline)) static void learn_turns(void) {
    double best = 1;
    for (int i = 0; i < RUNS; i++) {
        double before = now(CLOCK_THREAD_CPUTIME_ID);
        turns_of_us = 1000;
        first(200);
        double took = now(CLOCK_THREAD_CPUTIME_ID) - before;
        best = took < best ? took : best;
    }
    turns_of_us = 1000 * 200e-6 / best;
    worked_first = 0;
}

static void nap(void) {
    nanosleep(&(struct timespec){0, 100000 + random() % 400000}, NULL);
}

static int silent_socket(void) {
    const struct timeval limit = {0, 3000};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
        exit(3);
    return ends[0];
}

static void work_usual(void) {
    first(8);
    second(16);
    third(40);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    bool is_seldom = strcmp(argv[1], "seldom") == 0, is_woken = strcmp(argv[1], "woken") == 0;
    int socket = silent_socket();
    char byte;
    learn_turns();
    double end = now(CLOCK_MONOTONIC) + atof(argv[2]);
    while (now(CLOCK_MONOTONIC) < end) {
        if (is_woken && random() % 12 == 0) {
            recv(socket, &byte, 1, 0);
            early(1000);
            late(500);
            continue;
        }
        nap();
        if (is_seldom && random() % 24 == 0)
            seldom(1500);
        else
            work_usual();
    }
    const struct {
        const char *name;
        uint64_t us;
    } worked[] = {{"first", worked_first},   {"second", worked_second}, {"third", worked_third},
                  {"seldom", worked_seldom}, {"early", worked_early},   {"late", worked_late}};
    for (size_t i = 0; i < sizeof worked / sizeof *worked; i++)
        if (worked[i].us != 0)
            printf("%s %llu\n", worked[i].name, (unsigned long long)worked[i].us);
    return 0;
}
