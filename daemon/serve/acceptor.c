/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * acceptor.c - accept, peek, hand over: agents to the handshake, whole HTTP requests to http.c.
 *
 * Nobody can keep others out: a connection that sends nothing, or half a request, is closed after a
 * while. Their number is limited, and that of each user more so.
 */
#include "daemon/serve/acceptor.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/wire/wire.h"
#include "daemon/serve/http.h"

#define WAITING_MAX  256
#define WAITING_USER 64
#define PATIENCE_S   10
#define REQUEST_MAX  16384 /* the head of a longer one is waited for elsewhere */
#define ACCEPTS_MAX  32    /* in a row */

/* Connections, numbered in the order in which they came; fd is -1 for a free place. */
static struct {
    int fd;
    uid_t uid;
    uint64_t number;
    time_t since;
} waiting[WAITING_MAX];

static uint64_t arrivals;

static int watched = -1;
static bool (*watched_ready)(int fd);

bool acceptor_open(struct acceptor *acceptor, int listener, const struct handshake_policy *policy) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    *acceptor = (struct acceptor){.listener = listener, .policy = policy};
    for (int i = 0; i < WAITING_MAX; i++)
        waiting[i].fd = -1;
    acceptor->epoll = epoll_create1(EPOLL_CLOEXEC);
    return acceptor->epoll >= 0 && epoll_ctl(acceptor->epoll, EPOLL_CTL_ADD, listener, &event) == 0;
}

bool acceptor_watch(struct acceptor *acceptor, int fd, bool (*ready)(int fd)) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    watched = fd;
    watched_ready = ready;
    return epoll_ctl(acceptor->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Nobody, if the kernel does not say: such are one user. */
static uid_t user_of(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : (uid_t)-1;
}

static void remove_waiting(struct acceptor *acceptor, int fd) {
    for (int i = 0; i < WAITING_MAX; i++) {
        if (waiting[i].fd == fd) {
            waiting[i].fd = -1;
            acceptor->waiting--;
        }
    }
    epoll_ctl(acceptor->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* A user who has too many: the one that has waited longest goes, as who comes now, an agent
 * perhaps, says at once what is to be said. */
static void make_room_for(struct acceptor *acceptor, uid_t uid) {
    int oldest = -1, n = 0;
    for (int i = 0; i < WAITING_MAX; i++) {
        if (waiting[i].fd < 0 || waiting[i].uid != uid)
            continue;
        n++;
        if (oldest < 0 || waiting[i].number < waiting[oldest].number)
            oldest = i;
    }
    if (n < WAITING_USER)
        return;
    int fd = waiting[oldest].fd;
    remove_waiting(acceptor, fd);
    close(fd);
}

/* False: there is no room for one more. By edges: half a hello would be ready all the time. */
static bool add_waiting(struct acceptor *acceptor, int fd) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    uid_t uid = user_of(fd);
    int i = 0;
    make_room_for(acceptor, uid);
    while (i < WAITING_MAX && waiting[i].fd >= 0)
        i++;
    if (i == WAITING_MAX || epoll_ctl(acceptor->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return false;
    waiting[i].fd = fd;
    waiting[i].uid = uid;
    waiting[i].number = ++arrivals;
    waiting[i].since = clock_seconds();
    acceptor->waiting++;
    return true;
}

static void close_silent(struct acceptor *acceptor) {
    time_t now = clock_seconds();
    for (int i = 0; i < WAITING_MAX && acceptor->waiting > 0; i++) {
        int fd = waiting[i].fd;
        if (fd >= 0 && now - waiting[i].since >= PATIENCE_S) {
            remove_waiting(acceptor, fd);
            close(fd);
        }
    }
}

static void serve_agent(struct acceptor *acceptor, int fd) {
    const char *reason;
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    if (!handshake_serve(fd, acceptor->policy, &reason) && reason != NULL)
        complain("process %d is not profiled: %s", (int)peer.pid, reason);
    close(fd);
}

enum peer { PEER_SILENT, PEER_GONE, PEER_AGENT, PEER_CLIENT };

/* The end of a request's head, an empty line, is there; or so much is that it may come later. */
static bool is_whole(const char *request, size_t n) {
    return n == REQUEST_MAX || memmem(request, n, "\r\n\r\n", 4) != NULL ||
           memmem(request, n, "\n\n", 2) != NULL;
}

/* An agent's hello comes in one piece of known size, a request piece by piece. */
static enum peer identify_peer(int fd) {
    char first[REQUEST_MAX];
    ssize_t n = recv(fd, first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? PEER_SILENT : PEER_GONE;
    size_t compare = (size_t)n < 8 ? (size_t)n : 8;
    if (memcmp(first, WIRE_HELLO_MAGIC, compare) != 0)
        return is_whole(first, (size_t)n) ? PEER_CLIENT : PEER_SILENT;
    return n >= (ssize_t)sizeof(struct wire_hello) ? PEER_AGENT : PEER_SILENT;
}

static void serve(struct acceptor *acceptor, int fd, enum peer kind) {
    if (kind == PEER_AGENT)
        serve_agent(acceptor, fd);
    else if (kind == PEER_CLIENT)
        http_take(fd, user_of(fd));
    else
        close(fd);
}

/* Most peers have sent their first bytes by now. At most ACCEPTS_MAX in a row: signals and
 * connections that wait have their turn in between. */
static void accept_some(struct acceptor *acceptor) {
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(acceptor->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        enum peer kind = identify_peer(fd);
        if (kind != PEER_SILENT)
            serve(acceptor, fd, kind);
        else if (!add_waiting(acceptor, fd))
            close(fd);
    }
}

/* The event may be of one that has been closed since. */
static bool is_waiting(int fd) {
    int i = 0;
    while (i < WAITING_MAX && waiting[i].fd != fd)
        i++;
    return i < WAITING_MAX;
}

static void peek_again(struct acceptor *acceptor, int fd) {
    enum peer kind = is_waiting(fd) ? identify_peer(fd) : PEER_SILENT;
    if (kind == PEER_SILENT)
        return;
    remove_waiting(acceptor, fd);
    serve(acceptor, fd, kind);
}

void acceptor_loop(struct acceptor *acceptor) {
    struct epoll_event events[32];
    for (;;) {
        int n = epoll_wait(acceptor->epoll, events, 32, acceptor->waiting > 0 ? 1000 : -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == watched) {
                if (!watched_ready(fd))
                    return;
            } else if (fd == acceptor->listener) {
                accept_some(acceptor);
            } else {
                peek_again(acceptor, fd);
            }
        }
        close_silent(acceptor);
    }
}
