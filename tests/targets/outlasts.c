/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * outlasts.c - works for a time on the clock, whatever its daemon does meanwhile, and knows what it
 * has used.
 *
 *   usage: outlasts WHAT SECONDS
 *
 *   threads  two threads compute, each in two functions by turns
 *   ends     threads of 30 ms each, one after the other
 *   forks    children of 30 ms of CPU time each, one after the other
 *   naps     a thread computes and sleeps by turns, another one sleeps all the time
 *   exec     as threads; then it executes itself, for as long
 *   killed   as threads; then it ends by a signal that can't be caught
 *
 * It prints "CPU NANOSECONDS" and "TIME NANOSECONDS": CPU time of the process, and of children that
 * it has waited for, from main() on; and the time that its threads were there, added up.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND  1000000000ull
#define PART_NS 30000000ull

static volatile uint64_t sink;
static uint64_t until; /* CLOCK_MONOTONIC */
static _Atomic uint64_t threads_ns;

static uint64_t now_on(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void add(void) {
    for (unsigned i = 0; i < 200000; i++)
        sink += i;
}

__attribute__((noinline)) static void multiply(void) {
    for (unsigned i = 1; i < 200000; i++)
        sink = sink * i + 1;
}

__attribute__((noinline)) static void compute(void) {
    while (now_on(CLOCK_MONOTONIC) < until) {
        add();
        multiply();
    }
}

/* PART_NS of the thread's CPU time. */
__attribute__((noinline)) static void compute_part(void) {
    uint64_t began = now_on(CLOCK_THREAD_CPUTIME_ID);
    while (now_on(CLOCK_THREAD_CPUTIME_ID) - began < PART_NS)
        add();
}

static void sleep_for(uint64_t ns) {
    const struct timespec time = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
    nanosleep(&time, NULL);
}

__attribute__((noinline)) static void nap(void) {
    while (now_on(CLOCK_MONOTONIC) < until) {
        compute_part();
        sleep_for(PART_NS);
    }
}

__attribute__((noinline)) static void rest(void) {
    uint64_t now = now_on(CLOCK_MONOTONIC);
    if (now < until)
        sleep_for(until - now);
}

static void *begin(void *what) {
    uint64_t began = now_on(CLOCK_MONOTONIC);
    void (*work)(void) = *(void (**)(void))what;
    work();
    threads_ns += now_on(CLOCK_MONOTONIC) - began;
    return NULL;
}

static void run_beside(void (*other)(void), void (*own)(void)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin, &other) != 0)
        exit(1);
    own();
    pthread_join(thread, NULL);
}

static void run_ends(void) {
    void (*part)(void) = compute_part;
    pthread_t thread;
    while (now_on(CLOCK_MONOTONIC) < until) {
        if (pthread_create(&thread, NULL, begin, &part) != 0)
            exit(1);
        pthread_join(thread, NULL);
    }
}

static void run_forks(void) {
    while (now_on(CLOCK_MONOTONIC) < until) {
        pid_t child = fork();
        if (child == 0) {
            compute_part();
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static uint64_t ns_of(struct timeval time) {
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_usec * 1000;
}

static void print(uint64_t cpu_before, uint64_t began) {
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    uint64_t cpu = now_on(CLOCK_PROCESS_CPUTIME_ID) - cpu_before + ns_of(children.ru_utime) +
                   ns_of(children.ru_stime);
    threads_ns += now_on(CLOCK_MONOTONIC) - began;
    printf("CPU %" PRIu64 "\nTIME %" PRIu64 "\n", cpu, (uint64_t)threads_ns);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const char *what = argv[1];
    uint64_t cpu = now_on(CLOCK_PROCESS_CPUTIME_ID), began = now_on(CLOCK_MONOTONIC);
    until = began + (uint64_t)(atof(argv[2]) * 1e9);
    if (strcmp(what, "ends") == 0)
        run_ends();
    else if (strcmp(what, "forks") == 0)
        run_forks();
    else if (strcmp(what, "naps") == 0)
        run_beside(rest, nap);
    else
        run_beside(compute, compute);
    print(cpu, began);
    if (strcmp(what, "exec") == 0)
        execl("/proc/self/exe", argv[0], "threads", argv[2], (char *)NULL);
    if (strcmp(what, "killed") == 0)
        raise(SIGKILL);
    return 0;
}
