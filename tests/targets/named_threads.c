/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * named_threads.c - threads with names, of which each does the same work for another time: the main
 * thread, two "reader", a "writer", and one that nobody names. The program
 * is called named_threads.
 *
 *   named_threads SECONDS
 *
 * Prints the name and the CPU time in ns of each, and how often work() was called.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 20000

struct part {
    const char *name;
    const char *called; /* NULL: not */
    double share;
    uint64_t ns, calls;
    pthread_t thread;
};

static struct part parts[] = {{"main", NULL, 0.10, 0, 0, 0},
                              {"reader", "reader", 0.15, 0, 0, 0},
                              {"reader", "reader", 0.15, 0, 0, 0},
                              {"writer", "writer", 0.35, 0, 0, 0},
                              {"named_threads", NULL, 0.25, 0, 0, 0}};

#define PARTS (sizeof parts / sizeof *parts)

static double seconds;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t work(uint64_t x) {
    for (uint32_t i = 0; i < ROUNDS; i++)
        x = x * 6364136223846793005u + (x >> 29);
    return x;
}

static void *run(void *arg) {
    struct part *part = arg;
    volatile uint64_t x = 1;
    if (part->called != NULL)
        pthread_setname_np(pthread_self(), part->called);
    while ((part->ns = cpu_ns()) < seconds * part->share * 1e9) {
        x = work(x);
        part->calls++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    seconds = argc > 1 ? atof(argv[1]) : 1;
    for (size_t i = 1; i < PARTS; i++)
        if (pthread_create(&parts[i].thread, NULL, run, &parts[i]) != 0)
            return 1;
    run(&parts[0]);
    for (size_t i = 1; i < PARTS; i++)
        pthread_join(parts[i].thread, NULL);
    for (size_t i = 0; i < PARTS; i++)
        printf("%s %llu %llu\n", parts[i].name, (unsigned long long)parts[i].ns,
               (unsigned long long)parts[i].calls);
    return 0;
}
