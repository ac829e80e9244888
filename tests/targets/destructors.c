/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * destructors.c - threads that compute when they have ended already: in the destructor of a key,
 * 100 ms of CPU time each.
 *
 *   usage: destructors COUNT
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define LIFE_NS 100000000u

static pthread_key_t key;
static volatile uint64_t sink;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void destroy(void *value) {
    (void)value;
    for (uint64_t until = now_ns() + LIFE_NS; now_ns() < until;)
        for (unsigned i = 0; i < 2000; i++)
            sink += i;
}

static void *live(void *arg) {
    pthread_setspecific(key, arg);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_key_create(&key, destroy);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, &key) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
