/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * marks.c - a program that marks moments by hcct.h.
 *
 *   marks phases SECONDS   twice: marks "work begins", works in first(), marks "change", works in
 *                          second(), marks "done", each for so long. Prints each name and when it
 *                          was (seconds since 1970). Then waits for the end of its input
 *   marks storm N          four threads, and a handler of a timer's signal, mark N times in all, as
 *                          fast as they can; errno stays what it was. Prints how often, with one
 *                          mark more at the end. Waits, too
 *   marks children         a child of vfork marks "of vfork", one of fork "of fork", then this one
 *                          "of the parent". Waits, too
 *   marks early            marks "early 0", "early 1", ... each tenth of a second until its input
 * has a line, and sleeps between them: it uses next to no CPU time. Prints how many. Waits, too
 *   marks odd              names that are empty, long, or would steer a terminal
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/labels/hcct.h"

#define OWN_FRAME __attribute__((noinline))
#define THREADS   4

static volatile uint64_t sink;
static _Atomic long left, made;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

OWN_FRAME static void spin(void) {
    for (unsigned i = 0; i < 1000; i++)
        sink += i;
}

OWN_FRAME static void first(double until) {
    while (now(CLOCK_MONOTONIC) < until)
        spin();
}

OWN_FRAME static void second(double until) {
    while (now(CLOCK_MONOTONIC) < until) {
        spin();
        sink++; /* else both functions are one */
    }
}

static void say(const char *name) {
    printf("%s %.6f\n", name, now(CLOCK_REALTIME));
    hcct_mark(name);
}

static void phases(double seconds) {
    for (int i = 0; i < 2; i++) {
        say("work begins");
        first(now(CLOCK_MONOTONIC) + seconds);
        say("change");
        second(now(CLOCK_MONOTONIC) + seconds);
        say("done");
    }
}

static void mark_one(void) {
    errno = ERANGE;
    if (atomic_fetch_sub(&left, 1) <= 0)
        return;
    hcct_mark("storm");
    atomic_fetch_add(&made, 1);
    if (errno != ERANGE)
        abort();
}

static void on_alarm(int number) {
    int before = errno;
    (void)number;
    mark_one();
    errno = before;
}

static void *storm_in_thread(void *unused) {
    while (atomic_load(&left) > 0) {
        mark_one();
        spin();
    }
    return unused;
}

static void storm(long n) {
    pthread_t thread[THREADS];
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    left = n;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, storm_in_thread, NULL) != 0)
            exit(99);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    hcct_mark("end"); /* what was lost is reported with it */
    printf("%ld\n", made);
}

static void children(void) {
    first(now(CLOCK_MONOTONIC) + 0.2); /* it is sampled */
    pid_t pid = vfork();
    if (pid == 0) {
        hcct_mark("of vfork");
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    pid = fork();
    if (pid == 0) {
        hcct_mark("of fork");
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    hcct_mark("of the parent");
}

static void early(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char name[32];
    int i = 0;
    do {
        snprintf(name, sizeof name, "early %d", i++);
        hcct_mark(name);
    } while (poll(&input, 1, 100) == 0);
    (void)getchar();
    printf("%d\n", i);
}

static void odd(void) {
    hcct_mark("");
    hcct_mark(NULL);
    hcct_mark("a\033[31mb\nc");
    hcct_mark("0123456789012345678901234567890123456789012345é and more");
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "phases") == 0)
        phases(atof(argv[2]));
    else if (strcmp(argv[1], "storm") == 0)
        storm(atol(argv[2]));
    else if (strcmp(argv[1], "children") == 0)
        children();
    else if (strcmp(argv[1], "early") == 0)
        early();
    else
        odd();
    printf("waits\n");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}
