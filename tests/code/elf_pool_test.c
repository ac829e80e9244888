/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_pool_test.c - users take turns, and wait for nobody but themselves. No job here asks its
 * worker, so no child is ever started.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/code/elf_pool.h"
#include "tests/check.h"

#define JOBS 200

/* A job that is done once its gate is open, and says as the how manieth it was begun. */
struct job {
    struct elf_job job; /* first */
    bool is_shut;
    unsigned begun, done; /* 0: not yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned n_begun, n_done, n_dropped, n_wrong, at_once, most_at_once;
static struct job jobs[JOBS];

static void run(struct elf_worker *worker, struct elf_job *its_job, void *arg) {
    struct job *job = (struct job *)its_job;
    pthread_mutex_lock(&lock);
    n_wrong += worker == NULL || arg != jobs; /* CHECK is the main thread's */
    job->begun = ++n_begun;
    at_once++;
    most_at_once = at_once > most_at_once ? at_once : most_at_once;
    pthread_cond_broadcast(&changed);
    while (job->is_shut)
        pthread_cond_wait(&changed, &lock);
    at_once--;
    job->done = ++n_done;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void drop(struct elf_job *job, void *arg) {
    CHECK(job != NULL && arg == jobs);
    n_dropped++;
}

static struct elf_pool *start(void) {
    static const struct elf_work work = {.run = run, .drop = drop};
    n_begun = n_done = n_dropped = at_once = most_at_once = 0;
    memset(jobs, 0, sizeof jobs);
    struct elf_pool *pool = elf_pool_start("/nowhere", &work, jobs);
    CHECK(pool != NULL);
    return pool;
}

static void put(struct elf_pool *pool, unsigned i, uid_t uid, uint64_t cost, bool is_shut) {
    jobs[i] = (struct job){.job = {.uid = uid, .cost = cost}, .is_shut = is_shut};
    elf_pool_put(pool, &jobs[i].job);
}

static void await(const unsigned *number, unsigned at_least) {
    pthread_mutex_lock(&lock);
    while (*number < at_least)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void open_gate(unsigned i) {
    pthread_mutex_lock(&lock);
    jobs[i].is_shut = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* One user's job takes for ever, and a hundred wait behind it: another's are done. */
static void test_not_delayed(void) {
    struct elf_pool *pool = start();
    for (unsigned i = 0; i < 100; i++)
        put(pool, i, 1, 0, true);
    await(&jobs[0].begun, 1);
    for (unsigned i = 100; i < JOBS; i++)
        put(pool, i, 2, 0, false);
    await(&n_done, 100);
    CHECK_UINT(n_begun, 101); /* one of the first user's at a time */
    for (unsigned i = 101; i < JOBS; i++)
        CHECK(jobs[i].begun == jobs[i - 1].begun + 1);
    for (unsigned i = 0; i < 100; i++)
        open_gate(i);
    await(&n_done, JOBS);
    elf_pool_stop(pool);
    CHECK_UINT(n_dropped, 0);
}

/* More users than threads: each is served after one job of those before. */
static void test_turns(void) {
    enum { USERS = 10, EACH = 20 };
    struct elf_pool *pool = start();
    for (unsigned i = 0; i < ELF_POOL_THREADS_MAX; i++)
        put(pool, i, 1000 + i, 0, true);
    await(&n_begun, ELF_POOL_THREADS_MAX);
    unsigned first = ELF_POOL_THREADS_MAX;
    for (unsigned user = 0; user < USERS - 1; user++)
        for (unsigned i = 0; i < EACH; i++)
            put(pool, first + user * EACH + i, user, 0, false);
    unsigned last = first + (USERS - 1) * EACH;
    put(pool, last, USERS, 0, false);
    open_gate(0); /* one thread alone goes on */
    await(&jobs[last].done, 1);
    CHECK_UINT(jobs[last].begun, first + USERS);
    for (unsigned i = 1; i < first; i++)
        open_gate(i);
    await(&n_done, last + 1);
    CHECK(most_at_once <= ELF_POOL_THREADS_MAX);
    elf_pool_stop(pool);
}

static void *open_late(void *unused) {
    usleep(100000);
    open_gate(6);
    return unused;
}

/* What costs less goes first, in the order in which it came; the rest is dropped at the end. */
static void test_cost(void) {
    static const uint64_t cost[] = {0, 5, 3, 5, 1, 3};
    static const unsigned order[] = {1, 5, 3, 6, 2, 4};
    struct elf_pool *pool = start();
    for (unsigned i = 0; i < 6; i++)
        put(pool, i, 1, cost[i], i == 0);
    await(&n_begun, 1);
    open_gate(0);
    await(&n_done, 6);
    for (unsigned i = 0; i < 6; i++)
        CHECK_UINT(jobs[i].begun, order[i]);
    put(pool, 6, 1, 0, true);
    put(pool, 7, 1, 0, false);
    await(&jobs[6].begun, 1);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_late, NULL) == 0);
    elf_pool_stop(pool);
    pthread_join(thread, NULL);
    CHECK_UINT(jobs[6].done, 7);
    CHECK_UINT(n_dropped, 1);
    elf_pool_stop(NULL);
}

int main(void) {
    alarm(120);
    test_not_delayed();
    test_turns();
    test_cost();
    CHECK_UINT(n_wrong, 0);
    return check_report();
}
