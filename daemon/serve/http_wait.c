/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_wait.c - poll(): the client's socket, the daemon's end, the clock.
 */
#include "daemon/serve/http_wait.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/serve/http_jobs.h"

static int stopping = -1;

bool http_wait_start(void) {
    stopping = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return stopping >= 0;
}

void http_wait_stop(void) {
    uint64_t one = 1;
    ssize_t n = write(stopping, &one, sizeof one);
    (void)n; /* can't be full */
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum http_waited wait_for(int fd, unsigned seconds) {
    int64_t end = now_ms() + (int64_t)seconds * 1000;
    struct pollfd watched[] = {{.fd = stopping, .events = POLLIN}, {.fd = fd, .events = POLLRDHUP}};
    for (;;) {
        int64_t left = end - now_ms();
        int n = poll(watched, 2, left > 0 ? (int)left : 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return HTTP_WAITED;
        return watched[0].revents != 0 ? HTTP_STOPPING : HTTP_GONE;
    }
}

enum http_waited http_wait(uid_t uid, int fd, unsigned seconds) {
    if (!http_jobs_sleep(uid))
        return HTTP_NO_THREAD;
    enum http_waited waited = wait_for(fd, seconds);
    http_jobs_wake(uid);
    return waited;
}
