/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * metrics.c - computes, allocates, keeps and waits for a lock, each in functions of its own and in
 * shares that are known: metrics ROUNDS.
 *
 * Two threads do the same. Of what both allocate, the one function has a quarter and the other
 * three quarters; a fifth of all is kept. The main thread holds a lock while both wait for it. At
 * the end both touch pages that nobody has touched before. It says on stdout, in nanoseconds, what
 * they have waited as they saw it themselves, and what CPU time each of the two functions that
 * compute has used; and how many pages were touched, and how many page faults there were in all.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS  2
#define SMALL    10000u
#define LARGE    30000u
#define HOLD_NS  2000000
#define PAGE     4096u
#define PAGES    128u

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static _Atomic uint64_t waited_ns, few_ns, many_ns;
static _Atomic uint64_t work;
static void *_Atomic kept;
static unsigned rounds;

static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t spin(unsigned n) {
    uint64_t began = now(CLOCK_THREAD_CPUTIME_ID), x = began;
    for (unsigned i = 0; i < n; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    atomic_fetch_xor(&work, x);
    return now(CLOCK_THREAD_CPUTIME_ID) - began;
}

NOINLINE static void compute_few(void) {
    atomic_fetch_add(&few_ns, spin(300000));
}

NOINLINE static void compute_many(void) {
    atomic_fetch_add(&many_ns, spin(900000));
}

static void keep(void **block) {
    *block = atomic_exchange(&kept, block);
}

/* One of five is kept. */
NOINLINE static void allocate_small(unsigned i) {
    void **block = malloc(SMALL);
    if (i % 5 == 0)
        keep(block);
    else
        free(block);
}

NOINLINE static void allocate_large(unsigned i) {
    void **block = malloc(LARGE);
    if (i % 5 == 0)
        keep(block);
    else
        free(block);
}

NOINLINE static void touch_pages(void) {
    char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < PAGES; i++)
        ((volatile char *)pages)[i * PAGE] = 1;
    munmap(pages, PAGES * PAGE);
}

static unsigned long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (unsigned long)(usage.ru_minflt + usage.ru_majflt);
}

NOINLINE static void wait_for_lock(void) {
    uint64_t began = now(CLOCK_MONOTONIC);
    pthread_mutex_lock(&contended);
    atomic_fetch_add(&waited_ns, now(CLOCK_MONOTONIC) - began);
    pthread_mutex_unlock(&contended);
}

static void *run(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < rounds; i++) {
        compute_few();
        compute_many();
        for (unsigned k = 0; k < 20; k++) {
            allocate_small(k);
            allocate_large(k);
        }
        pthread_barrier_wait(&meeting); /* the main thread has the lock */
        wait_for_lock();
        pthread_barrier_wait(&meeting);
    }
    for (unsigned i = 0; i < 2 * rounds; i++)
        touch_pages();
    return NULL;
}

static void hold(void) {
    const struct timespec while_held = {0, HOLD_NS};
    pthread_mutex_lock(&contended);
    pthread_barrier_wait(&meeting);
    nanosleep(&while_held, NULL);
    pthread_mutex_unlock(&contended);
    pthread_barrier_wait(&meeting);
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS];
    unsigned long faults_before = faults();
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    pthread_barrier_init(&meeting, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (unsigned i = 0; i < rounds; i++)
        hold();
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    unsigned long blocks = 20ul * THREADS * rounds;
    printf("few_ns %lu\nmany_ns %lu\nwaited_ns %lu\nsmall_bytes %lu\nlarge_bytes %lu\n",
           (unsigned long)few_ns, (unsigned long)many_ns, (unsigned long)waited_ns, blocks * SMALL,
           blocks * LARGE);
    printf("touched %lu\nfaults %lu\n", 2ul * THREADS * rounds * PAGES, faults() - faults_before);
    return 3;
}
