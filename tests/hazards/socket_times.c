/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * socket_times.c - calls on sockets with a time (SO_RCVTIMEO), one after the other at one place:
 * those that get something in time do, and the last ones, which get nothing, end when it is over.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TIMES    10
#define LIMIT_MS 400
#define EACH_MS  120
#define LATE_MS  300 /* a machine may be busy */

static int ends[2], listener;
static struct sockaddr_un address;
static socklen_t length;

static long ms_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void nap(long ms) {
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

/* ---- calls ---- */

static char byte;

static long by_recv(void) {
    return recv(ends[0], &byte, 1, 0);
}
static long by_read(void) {
    return read(ends[0], &byte, 1);
}
static long by_recvmsg(void) {
    struct iovec buffer = {&byte, 1};
    struct msghdr message = {.msg_iov = &buffer, .msg_iovlen = 1};
    return recvmsg(ends[0], &message, 0);
}
static long by_accept(void) {
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 1 : -1;
}

/* ---- what comes ---- */

static void give_byte(void) {
    if (write(ends[1], "x", 1) != 1)
        puts("nothing was written");
}
static void connect_once(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) != 0)
        puts("nothing is connected");
    close(fd);
}

static const struct way {
    const char *name;
    long (*take)(void);
    void (*give)(void);
} ways[] = {
    {"recv", by_recv, give_byte},
    {"read", by_read, give_byte},
    {"recvmsg", by_recvmsg, give_byte},
    {"accept", by_accept, connect_once},
};
#define WAYS (sizeof ways / sizeof *ways)

static void *give_all(void *arg) {
    const struct way *way = arg;
    for (int i = 0; i < TIMES; i++) {
        nap(EACH_MS);
        way->give();
    }
    return NULL;
}

static void check(struct way way) {
    pthread_t giver;
    pthread_create(&giver, NULL, give_all, &way);
    for (int i = 0; i < TIMES; i++) {
        long began = ms_now(), taken = way.take(), took = ms_now() - began;
        if (taken != 1 && took < LIMIT_MS) /* later: who gives had no processor */
            printf("%s %d: %s after %ld ms of %d\n", way.name, i, strerror(errno), took, LIMIT_MS);
    }
    pthread_join(giver, NULL);
    while (recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1) /* such are left */
        continue;
    for (int i = 0; i < 2; i++) {
        long began = ms_now(), taken = way.take(), took = ms_now() - began;
        if (taken == -1 && (errno != EAGAIN || took < LIMIT_MS - 4 || took > LIMIT_MS + LATE_MS))
            printf("%s: %s after %ld ms of %d\n", way.name, strerror(errno), took, LIMIT_MS);
    }
}

int main(void) {
    const struct timeval limit = {0, LIMIT_MS * 1000};
    address.sun_family = AF_UNIX; /* without a name: the kernel gives one */
    length = sizeof address;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        listen(listener, TIMES) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        return 1;
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (size_t i = 0; i < WAYS; i++)
        check(ways[i]);
    puts("done");
    return 0;
}
