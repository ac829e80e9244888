/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * cut_transfers.c - large transfers after many small ones, which a signal may cut short: on a
 * socket with a packet in its error queue, with credentials of somebody else, to a pipe that is
 * emptied slowly, and to a device that does not tell when it has room. Each is whole, and all of
 * its bytes are what they should be.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TIMES   15
#define QUICK   20
#define SMALL   16
#define LARGE   (2 << 20)
#define FOREIGN 1234 /* a user, and a group */

static char given[LARGE];

static void nap(long us) {
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* ---- who reads, slowly ---- */

static long others; /* bytes that came with the reader's own idea of who has sent them */

static bool is_foreign(struct msghdr *message) {
    for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one != NULL;
         one = CMSG_NXTHDR(message, one)) {
        struct ucred sender;
        if (one->cmsg_type != SCM_CREDENTIALS)
            continue;
        memcpy(&sender, CMSG_DATA(one), sizeof sender);
        return sender.uid == FOREIGN;
    }
    return true;
}

static void *take(void *arg) {
    static char taken[1 << 15];
    int fd = (int)(intptr_t)arg;
    for (unsigned i = 0;; i++) {
        char control[256];
        struct iovec buffer = {taken, sizeof taken};
        struct msghdr message = {.msg_iov = &buffer,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};
        ssize_t bytes = recvmsg(fd, &message, 0);
        if (bytes <= 0)
            return NULL;
        others += is_foreign(&message) ? 0 : bytes;
        if (i % 8 == 0)
            nap(300);
    }
}

static void send_all(int ends[2], ssize_t (*by)(int, size_t)) {
    pthread_t taker;
    pthread_create(&taker, NULL, take, (void *)(intptr_t)ends[1]);
    for (int i = 0; i < TIMES; i++)
        for (int j = 0; j <= QUICK; j++) {
            size_t bytes = j < QUICK ? SMALL : LARGE;
            ssize_t sent = by(ends[0], bytes);
            if (sent != (ssize_t)bytes)
                printf("%zd of %zu bytes were sent\n", sent, bytes);
        }
    shutdown(ends[0], SHUT_WR);
    pthread_join(taker, NULL);
    if (others != 0)
        printf("%ld bytes came from somebody else\n", others);
}

/* ---- a packet in the error queue: when one was sent, which nobody asks for ---- */

static ssize_t by_send(int fd, size_t bytes) {
    return send(fd, given, bytes, 0);
}

static int with_queue(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2], one = 1;
    int times =
        SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        connect(ends[0], (struct sockaddr *)&address, length) != 0)
        return 1;
    ends[1] = accept(listener, NULL, NULL);
    setsockopt(ends[0], SOL_SOCKET, SO_TIMESTAMPING, &times, sizeof times);
    setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    send_all(ends, by_send);
    return 0;
}

/* ---- credentials, which only root may give ---- */

static ssize_t by_sendmsg(int fd, size_t bytes) {
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr header;
    } control = {{0}};
    const struct ucred sender = {getpid(), FOREIGN, FOREIGN};
    struct iovec buffer = {given, bytes};
    const struct msghdr message = {.msg_iov = &buffer,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof sender),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_CREDENTIALS};
    memcpy(CMSG_DATA(&control.header), &sender, sizeof sender);
    return sendmsg(fd, &message, 0);
}

static int with_credentials(void) {
    int ends[2], one = 1;
    if (geteuid() != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
    send_all(ends, by_sendmsg);
    return 0;
}

/* ---- a pipe ---- */

static void *empty(void *arg) {
    static char taken[1 << 13];
    int fd = (int)(intptr_t)arg;
    while (read(fd, taken, sizeof taken) > 0)
        nap(100);
    return NULL;
}

static ssize_t by_pwritev2(int fd, size_t bytes) {
    const struct iovec buffer = {given, bytes};
    return pwritev2(fd, &buffer, 1, -1, 0);
}

static int to_pipe(void) {
    pthread_t reader;
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&reader, NULL, empty, (void *)(intptr_t)ends[0]);
    for (int i = 0; i < TIMES; i++) {
        ssize_t bytes = by_pwritev2(ends[1], LARGE / 8);
        if (bytes != LARGE / 8)
            printf("%zd of %d bytes went into the pipe\n", bytes, LARGE / 8);
    }
    close(ends[1]);
    pthread_join(reader, NULL);
    return 0;
}

/* ---- a device, which takes what it is given ---- */

static int to_device(void) {
    int fd = open("/dev/random", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (int i = 0; i < 400; i++) {
        ssize_t bytes = write(fd, given, LARGE / 8);
        if (bytes != LARGE / 8)
            printf("%zd of %d bytes were written\n", bytes, LARGE / 8);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int status = strcmp(way, "queue") == 0         ? with_queue()
                 : strcmp(way, "credentials") == 0 ? with_credentials()
                 : strcmp(way, "pipe") == 0        ? to_pipe()
                                                   : to_device();
    puts("done");
    return status;
}
