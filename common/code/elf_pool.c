/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_pool.c - a list of users, each with a list of jobs, and threads that take from it.
 *
 * A user is in the list as the first of their jobs, to which the others hang. When that one is
 * taken the next becomes the first, at the end of the list of users.
 */
#include "common/code/elf_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define REST_S 60 /* without a job, until a thread ends or rests */

struct elf_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *program;
    const struct elf_work *work;
    void *arg;
    struct elf_job *users; /* the first job of each */
    struct thread {
        bool there, at_work;
        struct elf_worker *worker;
        uid_t uid;                   /* whose job is at work */
    } threads[ELF_POOL_THREADS_MAX]; /* [0] is the one that stays */
    bool stop;
};

/* What a thread is started with. */
struct start {
    struct elf_pool *pool;
    struct thread *thread;
};

/* ---- the list; all under the lock ---- */

static bool is_at_work(const struct elf_pool *pool, uid_t uid) {
    for (unsigned i = 0; i < ELF_POOL_THREADS_MAX; i++)
        if (pool->threads[i].at_work && pool->threads[i].uid == uid)
            return true;
    return false;
}

static void add_user(struct elf_pool *pool, struct elf_job *first) {
    struct elf_job **at = &pool->users;
    while (*at != NULL)
        at = &(*at)->next_user;
    first->next_user = NULL;
    *at = first;
}

/* Before the user's first job of a greater cost. `first` is where that user is in the list. */
static void insert(struct elf_job **first, struct elf_job *job) {
    struct elf_job **at = first, *head = *first;
    if (job->cost >= head->last->cost) {
        head->last->next = job;
        head->last = job;
        return;
    }
    while ((*at)->cost <= job->cost)
        at = &(*at)->next;
    job->next = *at;
    job->next_user = head->next_user; /* these two count where it is the first now */
    job->last = head->last;
    *at = job;
}

static void put(struct elf_pool *pool, struct elf_job *job) {
    struct elf_job **at = &pool->users;
    job->next = NULL;
    job->last = job;
    while (*at != NULL && (*at)->uid != job->uid)
        at = &(*at)->next_user;
    if (*at != NULL)
        insert(at, job);
    else
        add_user(pool, job);
}

static void unlink_first(struct elf_pool *pool, struct elf_job **at) {
    struct elf_job *job = *at;
    *at = job->next_user;
    if (job->next == NULL)
        return;
    job->next->last = job->last;
    add_user(pool, job->next);
}

/* The first job of the first user who has none at work; NULL: there is none. */
static struct elf_job *take(struct elf_pool *pool) {
    struct elf_job **at = &pool->users;
    while (*at != NULL && is_at_work(pool, (*at)->uid))
        at = &(*at)->next_user;
    struct elf_job *job = *at;
    if (job != NULL)
        unlink_first(pool, at);
    return job;
}

/* Users of whom a job could be done now. */
static unsigned count_ready(const struct elf_pool *pool) {
    unsigned n = 0;
    for (const struct elf_job *job = pool->users; job != NULL; job = job->next_user)
        n += !is_at_work(pool, job->uid);
    return n;
}

static unsigned count_free(const struct elf_pool *pool) {
    unsigned n = 0;
    for (unsigned i = 0; i < ELF_POOL_THREADS_MAX; i++)
        n += pool->threads[i].there && !pool->threads[i].at_work;
    return n;
}

/* ---- threads ---- */

static void run(struct elf_pool *pool, struct thread *thread, struct elf_job *job) {
    thread->at_work = true;
    thread->uid = job->uid;
    pthread_mutex_unlock(&pool->lock);
    pool->work->run(thread->worker, job, pool->arg);
    pthread_mutex_lock(&pool->lock);
    thread->at_work = false;
}

/* Waits for a change. False: none has come for long. */
static bool wait_for_change(struct elf_pool *pool, bool resting) {
    struct timespec until;
    if (resting) {
        pthread_cond_wait(&pool->changed, &pool->lock);
        return true;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += REST_S;
    return pthread_cond_clockwait(&pool->changed, &pool->lock, CLOCK_MONOTONIC, &until) == 0;
}

static void rest(struct elf_pool *pool, struct thread *thread) {
    pthread_mutex_unlock(&pool->lock);
    elf_worker_rest(thread->worker);
    pthread_mutex_lock(&pool->lock);
}

/* Does jobs until the pool is stopped, or, but for the first thread, until none has come for long.
 * Under the lock, which is given up meanwhile. */
static void serve(struct elf_pool *pool, struct thread *thread) {
    bool in_time = true, resting = false;
    struct elf_job *job;
    while (!pool->stop) {
        if ((job = take(pool)) != NULL) {
            run(pool, thread, job);
            resting = false;
        } else if (in_time) {
            in_time = wait_for_change(pool, resting);
            continue;
        } else if (thread != pool->threads) {
            return;
        } else {
            rest(pool, thread);
            resting = true;
        }
        in_time = true;
    }
}

static void *thread_main(void *arg) {
    struct start start = *(struct start *)arg;
    struct elf_pool *pool = start.pool;
    free(arg);
    pthread_mutex_lock(&pool->lock);
    serve(pool, start.thread);
    elf_worker_free(start.thread->worker);
    start.thread->there = false;
    pthread_cond_broadcast(&pool->changed); /* the last one may be waited for */
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool create(struct elf_pool *pool, struct thread *thread) {
    pthread_attr_t detached;
    pthread_t id;
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return false;
    *start = (struct start){pool, thread};
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&id, &detached, thread_main, start) == 0;
    pthread_attr_destroy(&detached);
    if (!ok)
        free(start);
    return ok;
}

/* One thread more, if there may be one. Under the lock. */
static bool add_thread(struct elf_pool *pool) {
    struct thread *thread = pool->threads, *end = thread + ELF_POOL_THREADS_MAX;
    while (thread < end && thread->there)
        thread++;
    if (thread == end)
        return false;
    thread->worker = elf_worker_new(pool->program);
    if (thread->worker == NULL)
        return false;
    thread->there = create(pool, thread);
    if (!thread->there)
        elf_worker_free(thread->worker);
    return thread->there;
}

/* ---- the pool ---- */

struct elf_pool *elf_pool_start(const char *program, const struct elf_work *work, void *arg) {
    struct elf_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->program = program;
    pool->work = work;
    pool->arg = arg;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pthread_mutex_lock(&pool->lock);
    bool ok = add_thread(pool);
    pthread_mutex_unlock(&pool->lock);
    if (ok)
        return pool;
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return NULL;
}

static bool has_threads(const struct elf_pool *pool) {
    for (unsigned i = 0; i < ELF_POOL_THREADS_MAX; i++)
        if (pool->threads[i].there)
            return true;
    return false;
}

static void end_threads(struct elf_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->changed);
    for (unsigned i = 0; i < ELF_POOL_THREADS_MAX; i++)
        if (pool->threads[i].there && pool->work->is_given_up)
            elf_worker_interrupt(pool->threads[i].worker);
    while (has_threads(pool))
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void elf_pool_stop(struct elf_pool *pool) {
    struct elf_job *job;
    if (pool == NULL)
        return;
    end_threads(pool);
    while ((job = take(pool)) != NULL)
        pool->work->drop(job, pool->arg);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void elf_pool_put(struct elf_pool *pool, struct elf_job *job) {
    pthread_mutex_lock(&pool->lock);
    put(pool, job);
    if (count_ready(pool) > count_free(pool))
        add_thread(pool); /* where none can be had, one that is there comes to it */
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}
