/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locks_short.c - waits for a lock of some microseconds each: another thread gives it back as soon
 * as it sees that it is waited for. Prints for each function how often it has waited.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define APART  __attribute__((noipa))
#define WAITS  40000
#define ASLEEP 2 /* the lock's word in libc: somebody has it, and somebody waits */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum { FREE, TAKEN, WANTED, OVER } state;

static void await(int wanted) {
    while (__atomic_load_n((int *)&state, __ATOMIC_ACQUIRE) != wanted)
        sched_yield();
}

static void set(int next) {
    __atomic_store_n((int *)&state, next, __ATOMIC_RELEASE);
}

static void *have(void *turns) {
    for (int i = 0; i < *(int *)turns; i++) {
        await(FREE);
        pthread_mutex_lock(&lock);
        set(TAKEN);
        await(WANTED);
        while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != ASLEEP)
            sched_yield();
        pthread_mutex_unlock(&lock);
        await(OVER);
        set(FREE);
    }
    return NULL;
}

static inline __attribute__((always_inline)) void wait_once(void) {
    await(TAKEN);
    set(WANTED);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    set(OVER);
}

APART static void waits_often(void) {
    wait_once();
}

APART static void waits_seldom(void) {
    wait_once();
}

int main(void) {
    int turns = WAITS + WAITS / 4;
    pthread_t other;
    if (pthread_create(&other, NULL, have, &turns) != 0)
        return 1;
    for (int i = 0; i < WAITS; i++) {
        waits_often();
        if (i % 4 == 0)
            waits_seldom();
    }
    pthread_join(other, NULL);
    printf("waits_often %d\nwaits_seldom %d\n", WAITS, WAITS / 4);
    return 0;
}
