/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * equal_threads.c - threads that all use the same CPU time, each in a function of its own.
 *
 * Prints the CPU time that each has really used, as "NANOSECONDS thread_NN".
 *
 *   usage: equal_threads THREADS SECONDS_OF_CPU_PER_THREAD
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 16

static volatile uint64_t sink;
static uint64_t budget_ns, used_ns[THREADS_MAX];

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t burn(void) {
    uint64_t now;
    do {
        for (unsigned i = 0; i < 50000; i++)
            sink += i;
        now = cpu_ns();
    } while (now < budget_ns);
    return now;
}

#define THREAD(n)                                                                                  \
    static void *thread_##n(void *arg) {                                                           \
        used_ns[n] = burn();                                                                       \
        return arg;                                                                                \
    }
THREAD(0)
THREAD(1)
THREAD(2)
THREAD(3)
THREAD(4)
THREAD(5)
THREAD(6)
THREAD(7)
THREAD(8)
THREAD(9)
THREAD(10)
THREAD(11)
THREAD(12)
THREAD(13)
THREAD(14)
THREAD(15)

static void *(*const functions[THREADS_MAX])(void *) = {
    thread_0, thread_1, thread_2,  thread_3,  thread_4,  thread_5,  thread_6,  thread_7,
    thread_8, thread_9, thread_10, thread_11, thread_12, thread_13, thread_14, thread_15,
};

int main(int argc, char **argv) {
    pthread_t id[THREADS_MAX];
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (argc != 3 || threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: equal_threads THREADS SECONDS_OF_CPU_PER_THREAD\n");
        return 2;
    }
    budget_ns = (uint64_t)(atof(argv[2]) * 1e9);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&id[i], NULL, functions[i], NULL) != 0)
            return 1;
    for (int i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
        printf("%llu thread_%d\n", (unsigned long long)used_ns[i], i);
    }
    return 0;
}
