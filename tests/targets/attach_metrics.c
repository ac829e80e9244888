/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_metrics.c - in each round, which a line on standard input begins, four threads allocate
 * known amounts in contexts of known names, keep some, free what they have kept in the round
 * before, and contend for a lock; then it prints for each context: its name, bytes allocated, bytes
 * kept, nanoseconds waited for the lock; and "end".
 *
 * Its threads block all signals when it is called with "blocked"; with "alone" its only thread
 * waits, after a line, for a lock that it has: for ever. Between rounds all threads wait, but one
 * that waits for a lock which is given back in the middle of the next round.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART   __attribute__((noinline, noclone))
#define THREADS 4
#define WAITS   40

struct sum {
    const char *name;
    unsigned long bytes, kept, waited_ns;
};

static void *volatile sink;
static pthread_barrier_t begins, waits, ends;
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER, held_long = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;

static unsigned long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long)time.tv_sec * 1000000000ul + (unsigned long)time.tv_nsec;
}

/* The list of a round. */
static __thread void **kept;

static void keep(struct sum *sum, void **block, size_t size) {
    *block = kept;
    kept = block;
    sum->kept += size;
}

static void free_kept(void) {
    while (kept != NULL) {
        void **next = *kept;
        free(kept);
        kept = next;
    }
}

static APART void small_kept(struct sum *sum) {
    for (int i = 0; i < 400000; i++) {
        keep(sum, malloc(160), 160);
        sum->bytes += 160;
    }
}

static APART void small_freed(struct sum *sum) {
    for (int i = 0; i < 500000; i++) {
        sink = malloc(200);
        free(sink);
        sum->bytes += 200;
    }
}

static APART void grows(struct sum *sum) {
    for (int i = 0; i < 500; i++) {
        void *block = NULL;
        for (size_t size = 10000; size <= 160000; size *= 2) {
            block = realloc(block, size);
            sum->bytes += size;
        }
        if (i % 5 == 0)
            keep(sum, block, 160000);
        else
            free(block);
    }
}

static APART void aligned(struct sum *sum) {
    for (int i = 0; i < 4000; i++) {
        void *block = NULL;
        if (posix_memalign(&block, 4096, 40000) != 0)
            abort();
        sum->bytes += 40000;
        if (i % 4 == 0)
            keep(sum, block, 40000);
        else
            free(block);
    }
}

static void nap(long ns) {
    const struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

/* One of two threads has it, for a time that the other one measures. */
static APART void waits_for_mutex(struct sum *sum) {
    for (int i = 0; i < WAITS; i++) {
        unsigned long before = now();
        pthread_mutex_lock(&contended);
        sum->waited_ns += now() - before;
        nap(2000000);
        pthread_mutex_unlock(&contended);
        nap(100000);
    }
}

static APART void waits_to_write(struct sum *sum) {
    for (int i = 0; i < WAITS; i++) {
        unsigned long before = now();
        pthread_rwlock_wrlock(&written);
        sum->waited_ns += now() - before;
        nap(2000000);
        pthread_rwlock_unlock(&written);
        nap(100000);
    }
}

typedef void work(struct sum *sum);

static struct row {
    work *allocates, *waits;
    struct sum allocated, waited;
} rows[THREADS] = {
    {small_kept, waits_for_mutex, {.name = "small_kept"}, {.name = "waits_for_mutex"}},
    {small_freed, waits_for_mutex, {.name = "small_freed"}, {.name = "waits_for_mutex"}},
    {grows, waits_to_write, {.name = "grows"}, {.name = "waits_to_write"}},
    {aligned, waits_to_write, {.name = "aligned"}, {.name = "waits_to_write"}},
};

static void *run(void *argument) {
    struct row *row = argument;
    for (;;) {
        pthread_barrier_wait(&begins);
        free_kept();
        row->allocates(&row->allocated);
        pthread_barrier_wait(&waits);
        row->waits(&row->waited);
        pthread_barrier_wait(&ends);
    }
    return NULL;
}

/* It waits from one round to the middle of the next. */
static APART void *waits_long(void *argument) {
    (void)argument;
    for (;;) {
        pthread_mutex_lock(&held_long);
        pthread_mutex_unlock(&held_long);
        nap(50000000);
    }
    return NULL;
}

static void print(struct sum *sum) {
    printf("%s %lu %lu %lu\n", sum->name, sum->bytes, sum->kept, sum->waited_ns);
    sum->bytes = sum->kept = sum->waited_ns = 0;
}

static void one_round(void) {
    pthread_barrier_wait(&begins);
    pthread_mutex_unlock(&held_long);
    nap(20000000);
    pthread_mutex_lock(&held_long);
    pthread_barrier_wait(&ends);
    for (int i = 0; i < THREADS; i++) {
        print(&rows[i].allocated);
        print(&rows[i].waited);
    }
    puts("end");
    fflush(stdout);
}

int main(int argc, char **argv) {
    char line[64];
    pthread_t thread;
    sigset_t all;
    sigfillset(&all);
    if (argc > 1 && strcmp(argv[1], "blocked") == 0)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        pthread_mutex_lock(&contended);
        (void)getchar();
        pthread_mutex_lock(&contended);
    }
    pthread_barrier_init(&begins, NULL, THREADS + 1);
    pthread_barrier_init(&waits, NULL, THREADS);
    pthread_barrier_init(&ends, NULL, THREADS + 1);
    pthread_mutex_lock(&held_long);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, run, &rows[i]) != 0)
            return 1;
    if (pthread_create(&thread, NULL, waits_long, NULL) != 0)
        return 1;
    while (fgets(line, sizeof line, stdin) != NULL)
        one_round();
    puts("done");
    return 0;
}
