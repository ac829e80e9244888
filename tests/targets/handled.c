/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * handled.c - a thread whose calls that sleep are interrupted by handlers, in which it works.
 *
 *   usage: handled KIND SECONDS HANDLER AFTER
 *
 * KIND is the call: pause, nanosleep, poll, read, wait, semaphore. A timer sends a signal each 2
 * ms, whose handler works for HANDLER microseconds. After the call the thread works for AFTER
 * microseconds. Prints for how many microseconds of its CPU time each has worked.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 2000000

static double handled_us, after_us;
static volatile double in_handler, in_after; /* seconds */
static int ends[2];
static sem_t semaphore;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu(void) {
    return now(CLOCK_THREAD_CPUTIME_ID);
}

static volatile sig_atomic_t handlers;

/* CPU time outside of handlers: none has come between both of its parts. */
static double own(void) {
    double time;
    int before;
    do {
        before = handlers;
        time = cpu() - in_handler;
    } while (before != handlers);
    return time;
}

static unsigned turns_of_us;

__attribute__((noinline)) static void turn(unsigned turns) {
    for (unsigned i = 0; i < turns; i++)
        __asm__ volatile("" : "+r"(i));
}

/* Not the same code, or the compiler would make them one. */
#define WORK(name)                                                                                 \
    static volatile unsigned calls_of_##name;                                                      \
    __attribute__((noinline)) static void name(unsigned turns) {                                   \
        turn(turns);                                                                               \
        calls_of_##name++;                                                                         \
    }
WORK(serve)
WORK(after)

static void on_signal(int number) {
    int saved = errno;
    double began = cpu();
    (void)number;
    serve((unsigned)(handled_us * turns_of_us));
    in_handler += cpu() - began;
    handlers++;
    errno = saved;
}

/* Ends when the handler has run. */
static void sleep_in(const char *kind) {
    char byte;
    struct timespec second = {1, 0}, until;
    if (strcmp(kind, "pause") == 0)
        pause();
    else if (strcmp(kind, "nanosleep") == 0)
        nanosleep(&second, NULL);
    else if (strcmp(kind, "poll") == 0)
        poll(NULL, 0, 1000);
    else if (strcmp(kind, "read") == 0)
        (void)!read(ends[0], &byte, 1);
    else if (strcmp(kind, "semaphore") == 0) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        sem_timedwait(&semaphore, &until);
    } else
        exit(2);
}

static void learn_turns(void) {
    double best = 1;
    for (int i = 0; i < 20; i++) {
        double began = cpu();
        turn(200000);
        double took = cpu() - began;
        best = took < best ? took : best;
    }
    turns_of_us = (unsigned)(200000 / best / 1e6);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_signal};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const struct itimerspec each = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    timer_t timer;
    if (argc < 5 || pipe(ends) != 0 || sem_init(&semaphore, 0, 0) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 2;
    learn_turns();
    handled_us = atof(argv[3]);
    after_us = atof(argv[4]);
    timer_settime(timer, 0, &each, NULL);
    double end = now(CLOCK_MONOTONIC) + atof(argv[2]);
    while (now(CLOCK_MONOTONIC) < end) {
        sleep_in(argv[1]);
        double began = own();
        after((unsigned)(after_us * turns_of_us));
        in_after += own() - began;
    }
    timer_delete(timer);
    printf("serve %.0f\nafter %.0f\n", in_handler * 1e6, in_after * 1e6);
    return 0;
}
