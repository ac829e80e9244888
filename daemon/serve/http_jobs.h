/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_jobs.h - the threads that compute answers.
 *
 * One thread is there from the start and never ends, so that what takes little is answered when
 * there is no memory for another. More are made when they are needed and can be had. A user's jobs
 * beyond HTTP_JOBS_USER wait for each other; another user's go before them.
 */
#ifndef HCCT_HTTP_JOBS_H
#define HCCT_HTTP_JOBS_H

#include <stdbool.h>
#include <sys/types.h>

#define HTTP_JOBS_USER 4u  /* of one user at once; those that sleep are not counted */
#define HTTP_JOBS_MAX  16u /* of all users */

/* Owned by who puts it, and left alone until `run` is called. */
struct http_job {
    struct http_job *next;
    uid_t uid;
    void (*run)(struct http_job *job); /* may free the job */
};

/* False: no thread can be had. */
bool http_jobs_start(void);
/* Waits until all that were put are done, and ends the threads. Nobody may put one any more. */
void http_jobs_stop(void);

/* `run` will be called by one of the threads. */
void http_jobs_put(struct http_job *job);

/* A running job is about to sleep for seconds: others run meanwhile. False: they could not, as
 * there is no memory for another thread; the job must not sleep. Each true is followed by a wake.
 */
bool http_jobs_sleep(uid_t uid);
/* It goes on: waits until its user's jobs are few enough. */
void http_jobs_wake(uid_t uid);

#endif
