/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locks_held.c - locks that several threads want at once, each had in contexts of known names, and
 * prints for each of these how long others waited while it had the lock, in nanoseconds. With an
 * argument, others give their waiting up: nobody who has the lock ends it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#define APART   __attribute__((noinline, noclone))
#define MS      1000000L
#define THREADS 3
#define ROUNDS  100

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void nap(long ns) {
    const struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

static volatile unsigned work;

static void compute(long ns) {
    for (long until = now() + ns; now() < until;)
        work++;
}

struct wait {
    long from, to;
};

struct release {
    long at;
    int thread; /* that has released it */
};

/* One lock, and what became of it. Releases are noted by who has it. */
struct contended {
    const char *kind;
    const char *name[THREADS]; /* of the contexts that have it */
    void (*has[THREADS])(struct contended *it, struct wait *wait);
    struct wait wait[THREADS][ROUNDS];
    struct release release[THREADS * ROUNDS];
    int releases;
};

static void note(struct contended *it, int thread) {
    it->release[it->releases++] = (struct release){now(), thread};
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t standard;

/* A function that gets the lock, has it for a while and gives it back, which is not its last call.
 */
#define HAS(name, thread, trial, lock, pause, unlock)                                              \
    static APART void name(struct contended *it, struct wait *wait) {                              \
        if (trial) {                                                                               \
            wait->from = now();                                                                    \
            lock;                                                                                  \
            wait->to = now();                                                                      \
        }                                                                                          \
        pause;                                                                                     \
        note(it, thread);                                                                          \
        unlock;                                                                                    \
        work++;                                                                                    \
    }
#define MUTEX(name, thread, ns)                                                                    \
    HAS(name, thread, pthread_mutex_trylock(&mutex) != 0, pthread_mutex_lock(&mutex), nap(ns),     \
        pthread_mutex_unlock(&mutex))
#define RWLOCK(name, thread, ns)                                                                   \
    HAS(name, thread, pthread_rwlock_trywrlock(&rwlock) != 0, pthread_rwlock_wrlock(&rwlock),      \
        nap(ns), pthread_rwlock_unlock(&rwlock))
#define SPIN(name, thread, ns)                                                                     \
    HAS(name, thread, pthread_spin_trylock(&spin) != 0, pthread_spin_lock(&spin), compute(ns),     \
        pthread_spin_unlock(&spin))
#define STANDARD(name, thread, ns)                                                                 \
    HAS(name, thread, mtx_trylock(&standard) != thrd_success, mtx_lock(&standard), nap(ns),        \
        mtx_unlock(&standard))

MUTEX(mutex_long, 0, 4 * MS)
MUTEX(mutex_short, 1, MS)
MUTEX(mutex_brief, 2, MS / 4)
RWLOCK(rwlock_long, 0, 3 * MS)
RWLOCK(rwlock_short, 1, MS)
RWLOCK(rwlock_brief, 2, MS / 2)
SPIN(spin_long, 0, MS)
SPIN(spin_short, 1, MS / 5)
SPIN(spin_brief, 2, MS / 20)
STANDARD(standard_long, 0, 2 * MS)
STANDARD(standard_short, 1, MS)
STANDARD(standard_brief, 2, MS / 4)

#define KIND(word)                                                                                 \
    {                                                                                              \
        .kind = #word, .name = {#word "_long", #word "_short", #word "_brief"}, .has = {           \
            word##_long,                                                                           \
            word##_short,                                                                          \
            word##_brief                                                                           \
        }                                                                                          \
    }
static struct contended all[] = {KIND(mutex), KIND(rwlock), KIND(spin), KIND(standard)};

struct part {
    struct contended *it;
    int thread;
};

static void *use(void *argument) {
    const struct part *part = argument;
    for (int i = 0; i < ROUNDS; i++) {
        part->it->has[part->thread](part->it, &part->it->wait[part->thread][i]);
        nap(MS / 10);
    }
    return NULL;
}

static void contend(struct contended *it) {
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        parts[i] = (struct part){it, i};
        pthread_create(&threads[i], NULL, use, &parts[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Each wait is parted by the releases that came in it. */
static void print(const struct contended *it) {
    long caused[THREADS] = {0};
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < ROUNDS; i++) {
            long from = it->wait[t][i].from, to = it->wait[t][i].to;
            for (int r = 0; r < it->releases; r++) {
                const struct release *release = &it->release[r];
                if (release->at <= from || release->at > to || release->thread == t)
                    continue;
                caused[release->thread] += release->at - from;
                from = release->at;
            }
        }
    for (int t = 0; t < THREADS; t++)
        printf("%s %ld\n", it->name[t], caused[t]);
}

/* ---- those who give up ---- */

static void *gives_up(void *argument) {
    long *waited = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec end;
        long from = now();
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += 2 * MS;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        (void)pthread_mutex_timedlock(&mutex, &end);
        *waited += now() - from;
    }
    return NULL;
}

static void give_up(void) {
    long waited = 0;
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, gives_up, &waited);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&mutex);
    printf("given_up %ld\n", waited);
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&standard, mtx_plain);
    if (argc > 1) {
        give_up();
        return 0;
    }
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        contend(&all[i]);
        print(&all[i]);
    }
    return 0;
}
