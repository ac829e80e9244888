/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_wait.h - a request that takes its time: sleeping while others are served.
 */
#ifndef HCCT_HTTP_WAIT_H
#define HCCT_HTTP_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

enum http_waited {
    HTTP_WAITED,    /* the time has passed */
    HTTP_GONE,      /* the client has hung up */
    HTTP_STOPPING,  /* hcctd ends */
    HTTP_NO_THREAD, /* there is no memory for a thread that serves others meanwhile */
};

/* Before any thread. False: no descriptor. */
bool http_wait_start(void);
/* Wakes all who wait; whoever comes later does not wait. */
void http_wait_stop(void);

/* Waits `seconds`, or until the client at the other end of `fd` or the daemon goes. A client that
 * says no more is taken for one that has gone, as Go's servers do. In a job of that user alone
 * (http_jobs.h). */
enum http_waited http_wait(uid_t uid, int fd, unsigned seconds);

#endif
