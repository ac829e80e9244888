/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shares.c - a program that knows what its functions have of its CPU time, for the intervals of
 * chance to be held against.
 *
 *   usage: shares US SECONDS SEED [THREADS [CHILDREN]]
 *
 * The functions "half", "third", "sixth" and "rest" run in phases of US microseconds of CPU time
 * (a half more or less), one after the other as chance has it, for SECONDS of CPU time in all: in
 * so many threads, and in so many children of fork, one after the other. The program prints the CPU
 * time of each, by the thread's own clock, as "NANOSECONDS NAME".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS   4
#define THREADS_MAX 64
#define SPINS       400 /* between two readings of the clock */

#define OWN_FRAME __attribute__((noinline))

static const char *const names[FUNCTIONS] = {"half", "third", "sixth", "rest"};
static const double shares[FUNCTIONS] = {0.5, 0.3, 0.15, 0.05};

static volatile uint64_t sink;
static double phase_ns;
static uint64_t seed;
static _Atomic uint64_t *spent; /* shared with the children */

struct thread {
    pthread_t id;
    uint64_t random, budget_ns;
};

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(uint64_t end) {
    while (cpu_ns() < end)
        for (unsigned i = 0; i < SPINS; i++)
            sink += i;
}

OWN_FRAME static void half(uint64_t end) {
    burn(end);
    sink++;
}

OWN_FRAME static void third(uint64_t end) {
    burn(end);
    sink += 2;
}

OWN_FRAME static void sixth(uint64_t end) {
    burn(end);
    sink += 3;
}

OWN_FRAME static void rest(uint64_t end) {
    burn(end);
    sink += 4;
}

static void (*const functions[FUNCTIONS])(uint64_t) = {half, third, sixth, rest};

static double uniform(struct thread *thread) {
    uint64_t word = thread->random += 0x9e3779b97f4a7c15ull;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return (double)((word ^ word >> 31) >> 11) / (double)(1ull << 53);
}

static int choose(struct thread *thread) {
    double word = uniform(thread);
    int i = 0;
    for (; i + 1 < FUNCTIONS && word >= shares[i]; i++)
        word -= shares[i];
    return i;
}

static void *run(void *arg) {
    struct thread *thread = arg;
    uint64_t now = cpu_ns(), end = now + thread->budget_ns;
    while (now < end) {
        int i = choose(thread);
        functions[i](now + (uint64_t)(phase_ns * (0.5 + uniform(thread))));
        uint64_t then = cpu_ns();
        spent[i] += then - now;
        now = then;
    }
    return NULL;
}

static void run_threads(int n, double seconds, uint64_t number) {
    static struct thread threads[THREADS_MAX];
    for (int i = 0; i < n; i++)
        threads[i] = (struct thread){.random = (seed * 1000 + number) * 1000 + (uint64_t)i,
                                     .budget_ns = (uint64_t)(seconds * 1e9 / n)};
    for (int i = 1; i < n; i++)
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
            abort();
    run(&threads[0]);
    for (int i = 1; i < n; i++)
        pthread_join(threads[i].id, NULL);
}

static void run_children(int n, int threads, double seconds) {
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child < 0)
            abort();
        if (child == 0) {
            run_threads(threads, seconds / n, (uint64_t)i);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    phase_ns = atof(argv[1]) * 1000;
    double seconds = atof(argv[2]);
    seed = strtoull(argv[3], NULL, 10);
    int threads = argc > 4 ? atoi(argv[4]) : 1, children = argc > 5 ? atoi(argv[5]) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    spent = mmap(NULL, FUNCTIONS * sizeof *spent, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (spent == MAP_FAILED)
        return 2;
    if (children > 0)
        run_children(children, threads, seconds);
    else
        run_threads(threads, seconds, 0);
    for (int i = 0; i < FUNCTIONS; i++)
        printf("%llu %s\n", (unsigned long long)spent[i], names[i]);
    return 0;
}
