/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * empty_handler.c - a preload library that is ticked as the agent is, and does nothing.
 *
 * What is left of a sampling profiler in the process when it samples nothing: the timer, the
 * signal, and the way into a handler and back. Up to the kernel's tick, ticks come by the CPU clock
 * of the main thread, above it by the monotonic clock, as in preload/trigger.c.
 *
 *   EMPTY_HANDLER_RATE    ticks per second
 *   EMPTY_HANDLER_COUNT   file that gets the number of calls of the handler, a 64-bit word; it is
 *                         mapped, so that it is right however the program ends
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000l

static volatile uint64_t *calls;

static void on_signal(int number, siginfo_t *info, void *uc) {
    (void)number, (void)info, (void)uc;
    (*calls)++;
}

static void give_up(const char *what) {
    perror(what);
    _exit(125);
}

static void map_count(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *calls) != 0)
        give_up(path);
    void *map = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        give_up(path);
    close(fd);
    calls = map;
}

static void install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, NULL) != 0)
        give_up("sigaction");
}

static clockid_t clock_for(long period_ns) {
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return period_ns < tick.tv_nsec ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

static void run_timer(long period_ns) {
    const struct timespec period = {period_ns / SECOND_NS, period_ns % SECOND_NS};
    const struct itimerspec when = {.it_value = period, .it_interval = period};
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = gettid();
    if (timer_create(clock_for(period_ns), &event, &timer) != 0 ||
        timer_settime(timer, 0, &when, NULL) != 0)
        give_up("timer");
}

__attribute__((constructor)) static void start(void) {
    const char *rate = getenv("EMPTY_HANDLER_RATE"), *count = getenv("EMPTY_HANDLER_COUNT");
    long per_second = rate != NULL ? strtol(rate, NULL, 10) : 0;
    if (per_second < 1 || count == NULL)
        return;
    map_count(count);
    install();
    run_timer(SECOND_NS / per_second);
}
