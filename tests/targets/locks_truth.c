/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locks_truth.c - waits for locks that another thread has, in contexts of known names, and prints
 * for each: its name, nanoseconds waited, waits, and the sum of 1/nanoseconds that the agent's
 * clock of points has for each where waits are counted.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "common/wire/wire.h"

#define APART __attribute__((noinline, noclone))
#define MS    1000000

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void nap(long ns) {
    const struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

struct sum {
    long ns, waits;
    double inverse;
};

static void note(struct sum *sum, long since) {
    long ns = now() - since;
    sum->ns += ns;
    sum->waits++;
    sum->inverse += 1.0 / (double)(ns + WIRE_LOCKS_BESIDE);
}

static struct timespec far_off(clockid_t clock) {
    struct timespec end;
    clock_gettime(clock, &end);
    end.tv_sec += 60;
    return end;
}

/* ---- waits of some milliseconds: one thread has the lock and sleeps ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t reads = PTHREAD_RWLOCK_INITIALIZER, writes = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t standard;

/* Waits without the lock's being had by somebody else are none: `is_free` has said that it is. */
#define WAITS(name, is_free, lock, unlock)                                                         \
    static APART void name(struct sum *sum) {                                                      \
        if (is_free) {                                                                             \
            unlock;                                                                                \
            return;                                                                                \
        }                                                                                          \
        struct timespec end = far_off(CLOCK_REALTIME), steady = far_off(CLOCK_MONOTONIC);          \
        long since = now();                                                                        \
        lock;                                                                                      \
        note(sum, since);                                                                          \
        unlock;                                                                                    \
        (void)end, (void)steady;                                                                   \
    }

WAITS(waits_mutex, pthread_mutex_trylock(&mutex) == 0, pthread_mutex_lock(&mutex),
      pthread_mutex_unlock(&mutex))
WAITS(waits_timed, pthread_mutex_trylock(&timed) == 0,
      pthread_mutex_clocklock(&timed, CLOCK_MONOTONIC, &steady), pthread_mutex_unlock(&timed))
WAITS(waits_reading, pthread_rwlock_tryrdlock(&reads) == 0, pthread_rwlock_rdlock(&reads),
      pthread_rwlock_unlock(&reads))
WAITS(waits_writing, pthread_rwlock_trywrlock(&writes) == 0,
      pthread_rwlock_timedwrlock(&writes, &end), pthread_rwlock_unlock(&writes))
WAITS(waits_standard, mtx_trylock(&standard) == thrd_success, mtx_lock(&standard),
      mtx_unlock(&standard))

static void has_mutex(long ns) {
    pthread_mutex_lock(&mutex), nap(ns), pthread_mutex_unlock(&mutex);
}
static void has_timed(long ns) {
    pthread_mutex_lock(&timed), nap(ns), pthread_mutex_unlock(&timed);
}
static void has_reads(long ns) {
    pthread_rwlock_wrlock(&reads), nap(ns), pthread_rwlock_unlock(&reads);
}
static void has_writes(long ns) {
    pthread_rwlock_rdlock(&writes), nap(ns), pthread_rwlock_unlock(&writes);
}
static void has_standard(long ns) {
    mtx_lock(&standard), nap(ns), mtx_unlock(&standard);
}

static struct pair {
    const char *name;
    void (*has)(long ns);
    void (*waits)(struct sum *sum);
    long ns;
    sem_t begin, done;
    struct sum sum;
} pairs[] = {
    {.name = "waits_mutex", .has = has_mutex, .waits = waits_mutex, .ns = 4 * MS},
    {.name = "waits_timed", .has = has_timed, .waits = waits_timed, .ns = 2 * MS},
    {.name = "waits_reading", .has = has_reads, .waits = waits_reading, .ns = 1 * MS},
    {.name = "waits_writing", .has = has_writes, .waits = waits_writing, .ns = 3 * MS},
    {.name = "waits_standard", .has = has_standard, .waits = waits_standard, .ns = 2 * MS},
};

#define ROUNDS        120
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void *holder(void *argument) {
    struct pair *pair = argument;
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&pair->begin);
        pair->has(pair->ns);
        sem_wait(&pair->done);
    }
    return NULL;
}

static void *waiter(void *argument) {
    struct pair *pair = argument;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&pair->begin);
        nap(MS / 5);
        pair->waits(&pair->sum);
        sem_post(&pair->done);
    }
    return NULL;
}

/* ---- short waits: threads that compute with a lock ---- */

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static volatile unsigned work;

static void compute(long ns) {
    for (long until = now() + ns; now() < until;)
        work++;
}

WAITS(waits_briefly, pthread_mutex_trylock(&busy) == 0, pthread_mutex_lock(&busy),
      (compute(20000), pthread_mutex_unlock(&busy)))
WAITS(waits_spinning, pthread_spin_trylock(&spin) == 0, pthread_spin_lock(&spin),
      (compute(20000), pthread_spin_unlock(&spin)))

static struct sum brief[3], spinning[2];

static void *briefly(void *argument) {
    for (int i = 0; i < 3000; i++)
        waits_briefly(argument), compute(10000);
    return NULL;
}

static void *spins(void *argument) {
    for (int i = 0; i < 3000; i++)
        waits_spinning(argument), compute(10000);
    return NULL;
}

/* ---- all ---- */

static void print(const char *name, const struct sum *sums, size_t n) {
    struct sum all = {0};
    for (size_t i = 0; i < n; i++) {
        all.ns += sums[i].ns;
        all.waits += sums[i].waits;
        all.inverse += sums[i].inverse;
    }
    printf("%s %ld %ld %.9f\n", name, all.ns, all.waits, all.inverse);
}

int main(void) {
    pthread_t threads[2 * LENGTH(pairs) + LENGTH(brief) + LENGTH(spinning)];
    size_t n = 0;
    mtx_init(&standard, mtx_plain);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        sem_init(&pairs[i].begin, 0, 0);
        sem_init(&pairs[i].done, 0, 0);
        pthread_create(&threads[n++], NULL, holder, &pairs[i]);
        pthread_create(&threads[n++], NULL, waiter, &pairs[i]);
    }
    for (size_t i = 0; i < LENGTH(brief); i++)
        pthread_create(&threads[n++], NULL, briefly, &brief[i]);
    for (size_t i = 0; i < LENGTH(spinning); i++)
        pthread_create(&threads[n++], NULL, spins, &spinning[i]);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < LENGTH(pairs); i++)
        print(pairs[i].name, &pairs[i].sum, 1);
    print("waits_briefly", brief, LENGTH(brief));
    print("waits_spinning", spinning, LENGTH(spinning));
    return 0;
}
