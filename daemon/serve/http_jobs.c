/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_jobs.c - a queue in the order of arrival, and threads that take from it.
 */
#include "daemon/serve/http_jobs.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "common/base/user_slots.h"

#define THREADS_MAX 256u /* those whose jobs sleep included */
#define IDLE_S      1    /* then a thread ends, if another is idle, too */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct http_job *first, **last;
    unsigned n_waiting;        /* in the queue */
    struct user_slots working; /* whose jobs run */
    unsigned threads, idle, asleep;
    bool stop;
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .working = {.all = HTTP_JOBS_MAX, .each = HTTP_JOBS_USER}};

/* ---- who may run; all under the lock ---- */

static void end(uid_t uid) {
    user_slots_give(&jobs.working, uid);
    pthread_cond_broadcast(&jobs.changed);
}

/* The oldest job of the user who has the fewest at work; NULL: none may run. */
static struct http_job *take_next(void) {
    struct http_job **best = NULL;
    unsigned fewest = HTTP_JOBS_USER;
    for (struct http_job **at = &jobs.first; *at != NULL; at = &(*at)->next) {
        unsigned n = user_slots_held(&jobs.working, (*at)->uid);
        if (n < fewest && user_slots_free(&jobs.working, (*at)->uid)) {
            best = at;
            fewest = n;
        }
    }
    if (best == NULL)
        return NULL;
    struct http_job *job = *best;
    *best = job->next;
    if (jobs.last == &job->next)
        jobs.last = best;
    jobs.n_waiting--;
    return job;
}

/* ---- threads ---- */

/* Waits for a change, until then at most if another thread does so, too. False: nothing came. */
static bool wait_idle(const struct timespec *until) {
    int late = 0;
    if (jobs.idle++ == 0)
        pthread_cond_wait(&jobs.changed, &jobs.lock);
    else
        late = pthread_cond_timedwait(&jobs.changed, &jobs.lock, until);
    jobs.idle--;
    return late == 0;
}

static void run(struct http_job *job) {
    uid_t uid = job->uid;
    user_slots_take(&jobs.working, uid);
    pthread_mutex_unlock(&jobs.lock);
    job->run(job);
    pthread_mutex_lock(&jobs.lock);
    end(uid);
}

static void *work(void *unused) {
    struct timespec until = {0};
    struct http_job *job;
    (void)unused;
    pthread_mutex_lock(&jobs.lock);
    for (;;) {
        while ((job = take_next()) != NULL) {
            run(job);
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += IDLE_S;
        }
        if ((jobs.stop && jobs.n_waiting == 0) || (!wait_idle(&until) && jobs.idle > 0))
            break;
    }
    jobs.threads--;
    if (jobs.stop)
        pthread_cond_broadcast(&jobs.changed);
    pthread_mutex_unlock(&jobs.lock);
    return NULL;
}

/* One thread more. Under the lock. */
static bool add_thread(void) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached); /* the size of a stack is the program's default */
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool ok = jobs.threads < THREADS_MAX && pthread_create(&thread, &detached, work, NULL) == 0;
    jobs.threads += ok;
    pthread_attr_destroy(&detached);
    return ok;
}

bool http_jobs_start(void) {
    pthread_mutex_lock(&jobs.lock);
    jobs.last = &jobs.first;
    bool ok = add_thread();
    pthread_mutex_unlock(&jobs.lock);
    return ok;
}

void http_jobs_stop(void) {
    pthread_mutex_lock(&jobs.lock);
    jobs.stop = true;
    pthread_cond_broadcast(&jobs.changed);
    while (jobs.threads > 0)
        pthread_cond_wait(&jobs.changed, &jobs.lock);
    pthread_mutex_unlock(&jobs.lock);
}

/* ---- jobs ---- */

void http_jobs_put(struct http_job *job) {
    pthread_mutex_lock(&jobs.lock);
    job->next = NULL;
    *jobs.last = job;
    jobs.last = &job->next;
    jobs.n_waiting++;
    if (jobs.idle < jobs.n_waiting && user_slots_free(&jobs.working, job->uid))
        add_thread(); /* else one that is there comes to it */
    pthread_cond_broadcast(&jobs.changed);
    pthread_mutex_unlock(&jobs.lock);
}

bool http_jobs_sleep(uid_t uid) {
    pthread_mutex_lock(&jobs.lock);
    bool ok = jobs.threads - jobs.asleep > 1 || add_thread();
    if (ok) {
        jobs.asleep++;
        end(uid);
    }
    pthread_mutex_unlock(&jobs.lock);
    return ok;
}

void http_jobs_wake(uid_t uid) {
    pthread_mutex_lock(&jobs.lock);
    while (!user_slots_free(&jobs.working, uid))
        pthread_cond_wait(&jobs.changed, &jobs.lock);
    jobs.asleep--;
    user_slots_take(&jobs.working, uid);
    pthread_mutex_unlock(&jobs.lock);
}
