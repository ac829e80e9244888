/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleepers.c - a child of fork whose threads do nothing but sleep, from their first moment on.
 *
 *   usage: sleepers THREADS SECONDS
 *
 * Prints the real time that all of them have spent in "nap", as "NANOSECONDS nap".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define NAP_NS      20000000

static _Atomic uint64_t spent;
static uint64_t budget_ns;

static uint64_t real_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void nap(uint64_t end) {
    while (real_ns() < end) {
        struct timespec rest = {0, NAP_NS};
        nanosleep(&rest, &rest);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *run(void *unused) {
    uint64_t start = real_ns();
    (void)unused;
    nap(start + budget_ns);
    spent += real_ns() - start;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS_MAX];
    if (argc < 3)
        return 2;
    int n = atoi(argv[1]);
    budget_ns = (uint64_t)(atof(argv[2]) * 1e9);
    if (n < 1 || n > THREADS_MAX)
        return 2;
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child > 0)
        return waitpid(child, NULL, 0) == child ? 0 : 2;
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    printf("%llu nap\n", (unsigned long long)spent);
    return 0;
}
