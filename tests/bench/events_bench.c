/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * events_bench.c - what a malloc and a free take, and a lock that nobody else has: see events.py.
 *
 *   events_bench PAIRS ROUNDS
 *
 * Prints for each kind the least of all rounds, in ns of the thread's CPU time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEPT 64 /* blocks */

static void same_size(unsigned pairs) {
    for (unsigned i = 0; i < pairs; i++) {
        void *volatile block = malloc(64);
        free(block);
    }
}

/* One of those that are kept goes for each that comes. */
static void all_sizes(unsigned pairs) {
    static void *kept[KEPT];
    static uint32_t random = 1;
    for (unsigned i = 0; i < pairs; i++) {
        random = random * 1103515245 + 12345;
        void **block = &kept[random >> 20 & (KEPT - 1)];
        free(*block);
        *block = malloc(16 + (random >> 26) * 16);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void lock_mutex(unsigned pairs) {
    for (unsigned i = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void lock_to_read(unsigned pairs) {
    for (unsigned i = 0; i < pairs; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* libc takes locks otherwise while there is one thread only. */
static void *do_nothing(void *unused) {
    return unused;
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static const struct kind {
    const char *name;
    void (*run)(unsigned pairs);
} kinds[] = {
    {"malloc_64", same_size},
    {"malloc_all", all_sizes},
    {"mutex", lock_mutex},
    {"rdlock", lock_to_read},
};

#define KINDS (sizeof kinds / sizeof *kinds)

int main(int argc, char **argv) {
    unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    double least[KINDS] = {0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < KINDS; i++) {
            double began = now_ns();
            kinds[i].run(pairs);
            double ns = (now_ns() - began) / pairs;
            if (least[i] == 0 || ns < least[i])
                least[i] = ns;
        }
    for (size_t i = 0; i < KINDS; i++)
        printf("%s %.2f\n", kinds[i].name, least[i]);
    return 0;
}
