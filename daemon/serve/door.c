/*
 * door.c - accept, peek, hand over: agents to the handshake, whole HTTP requests to http.c.
 *
 * Nobody can hold the door: a connection that says nothing, or half of something, is closed after a
 * while, and their number is limited, that of each user more so.
 */
#include "daemon/serve/door.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

static time_t now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

bool door_open(struct door *door, int listener, const struct handshake_policy *policy) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    *door = (struct door){.listener = listener, .policy = policy};
    for (int i = 0; i < WAITING_MAX; i++)
        waiting[i].fd = -1;
    door->epoll = epoll_create1(EPOLL_CLOEXEC);
    return door->epoll >= 0 && epoll_ctl(door->epoll, EPOLL_CTL_ADD, listener, &event) == 0;
}

bool door_watch(struct door *door, int fd, bool (*ready)(int fd)) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    watched = fd;
    watched_ready = ready;
    return epoll_ctl(door->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Nobody, if the kernel does not say: such are one user. */
static uid_t user_of(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : (uid_t)-1;
}

static void remove_waiting(struct door *door, int fd) {
    for (int i = 0; i < WAITING_MAX; i++) {
        if (waiting[i].fd == fd) {
            waiting[i].fd = -1;
            door->waiting--;
        }
    }
    epoll_ctl(door->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* A user who has too many: the one that has waited longest goes, as who comes now, an agent
 * perhaps, says at once what is to be said. */
static void make_room_for(struct door *door, uid_t uid) {
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
    remove_waiting(door, fd);
    close(fd);
}

/* False: there is no room for one more. By edges: half a hello would be ready all the time. */
static bool add_waiting(struct door *door, int fd) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    uid_t uid = user_of(fd);
    int i = 0;
    make_room_for(door, uid);
    while (i < WAITING_MAX && waiting[i].fd >= 0)
        i++;
    if (i == WAITING_MAX || epoll_ctl(door->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        return false;
    waiting[i].fd = fd;
    waiting[i].uid = uid;
    waiting[i].number = ++arrivals;
    waiting[i].since = now_s();
    door->waiting++;
    return true;
}

static void close_silent(struct door *door) {
    time_t now = now_s();
    for (int i = 0; i < WAITING_MAX && door->waiting > 0; i++) {
        int fd = waiting[i].fd;
        if (fd >= 0 && now - waiting[i].since >= PATIENCE_S) {
            remove_waiting(door, fd);
            close(fd);
        }
    }
}

static void serve_agent(struct door *door, int fd) {
    const char *reason;
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    if (!handshake_serve(fd, door->policy, &reason) && reason != NULL)
        complain("process %d is not profiled: %s", (int)peer.pid, reason);
    close(fd);
}

enum guest { GUEST_SILENT, GUEST_GONE, GUEST_AGENT, GUEST_CLIENT };

/* The end of a request's head, an empty line, is there; or so much is that it may come later. */
static bool is_whole(const char *request, size_t n) {
    return n == REQUEST_MAX || memmem(request, n, "\r\n\r\n", 4) != NULL ||
           memmem(request, n, "\n\n", 2) != NULL;
}

/* Who is it? An agent's hello comes in one piece of known size, a request piece by piece. */
static enum guest who_is_it(int fd) {
    char first[REQUEST_MAX];
    ssize_t n = recv(fd, first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? GUEST_SILENT : GUEST_GONE;
    size_t compare = (size_t)n < 8 ? (size_t)n : 8;
    if (memcmp(first, WIRE_HELLO_MAGIC, compare) != 0)
        return is_whole(first, (size_t)n) ? GUEST_CLIENT : GUEST_SILENT;
    return n >= (ssize_t)sizeof(struct wire_hello) ? GUEST_AGENT : GUEST_SILENT;
}

static void serve(struct door *door, int fd, enum guest guest) {
    if (guest == GUEST_AGENT)
        serve_agent(door, fd);
    else if (guest == GUEST_CLIENT)
        http_take(fd, user_of(fd));
    else
        close(fd);
}

/* Most have said who they are by the time that the daemon looks. Not all at once: signals, and who
 * waits already, have their turn in between. */
static void accept_some(struct door *door) {
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        enum guest guest = who_is_it(fd);
        if (guest != GUEST_SILENT)
            serve(door, fd, guest);
        else if (!add_waiting(door, fd))
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

static void look_again(struct door *door, int fd) {
    enum guest guest = is_waiting(fd) ? who_is_it(fd) : GUEST_SILENT;
    if (guest == GUEST_SILENT)
        return;
    remove_waiting(door, fd);
    serve(door, fd, guest);
}

void door_loop(struct door *door) {
    struct epoll_event events[32];
    for (;;) {
        int n = epoll_wait(door->epoll, events, 32, door->waiting > 0 ? 1000 : -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == watched) {
                if (!watched_ready(fd))
                    return;
            } else if (fd == door->listener) {
                accept_some(door);
            } else {
                look_again(door, fd);
            }
        }
        close_silent(door);
    }
}
