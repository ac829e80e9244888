/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * between_sleeps.c - computes for some milliseconds after each sleep: after_short() after sleeps of
 * 4 and 5 ms whose end a timeout says, after_long() after waits of 60 ms for a descriptor.
 *
 * Prints the elapsed time in each function, as "NANOSECONDS FUNCTION".
 *
 *   usage: between_sleeps SECONDS
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS_NS 1000000ull

static volatile uint64_t sink;
static int timer, events;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void compute(uint64_t ms) {
    for (uint64_t end = now_ns() + ms * MS_NS; now_ns() < end;)
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
}

__attribute__((noinline)) static void after_short(void) {
    compute(3);
    sink++;
}

__attribute__((noinline)) static void after_long(void) {
    compute(6);
    sink++;
}

__attribute__((noinline)) static void sleep_short(void) {
    if (sink % 2 == 0 ? poll(NULL, 0, 5) != 0 : usleep(4000) != 0)
        abort();
    sink++;
}

__attribute__((noinline)) static void sleep_long(void) {
    struct itimerspec once = {.it_value = {0, 60 * MS_NS}};
    struct epoll_event event;
    uint64_t expiries;
    timerfd_settime(timer, 0, &once, NULL);
    if (epoll_wait(events, &event, 1, -1) != 1 || read(timer, &expiries, 8) != 8)
        abort();
    sink++;
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {{"sleep_short", sleep_short},
             {"after_short", after_short},
             {"sleep_long", sleep_long},
             {"after_long", after_long}};

enum { PARTS = sizeof parts / sizeof parts[0] };
static const int round_of[] = {0, 1, 0, 1, 2, 3};

int main(int argc, char **argv) {
    uint64_t spent[PARTS] = {0},
             end = now_ns() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * 1000 * MS_NS;
    struct epoll_event wanted = {.events = EPOLLIN};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    events = epoll_create1(0);
    epoll_ctl(events, EPOLL_CTL_ADD, timer, &wanted);
    while (now_ns() < end)
        for (size_t i = 0; i < sizeof round_of / sizeof round_of[0]; i++) {
            uint64_t began = now_ns();
            parts[round_of[i]].run();
            spent[round_of[i]] += now_ns() - began;
        }
    for (int i = 0; i < PARTS; i++)
        printf("%llu %s\n", (unsigned long long)spent[i], parts[i].name);
    return 0;
}
