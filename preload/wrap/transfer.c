/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer.c - by functions that take several buffers, of which a few at a time are given.
 */
#include "preload/wrap/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>

#include "preload/life/sys.h"
#include "preload/sample/ticker.h"
#include "preload/wrap/sleep_list.h"
#include "preload/wrap/sleep_machine.h"

#define BUFFERS 16 /* that are given at a time */
#define MS_NS   1000000

/* ---- what the call has been given ---- */

struct buffers {
    const struct iovec *first;
    size_t count;
};

static struct buffers buffers_of(const struct transfer *transfer) {
    const uint64_t *argument = transfer->call->argument;
    const struct msghdr *message = (const struct msghdr *)argument[1];
    if (transfer->kind == OPEN_MESSAGE)
        return (struct buffers){message->msg_iov, message->msg_iovlen};
    return (struct buffers){(const struct iovec *)argument[1], (size_t)argument[2]};
}

static bool is_plain(const struct transfer *transfer) {
    return transfer->kind == OPEN_BYTES || transfer->kind == OPEN_MEMORY;
}

static uint64_t asked(const struct transfer *transfer) {
    if (is_plain(transfer))
        return transfer->call->argument[2];
    struct buffers buffers = buffers_of(transfer);
    uint64_t bytes = 0;
    for (size_t i = 0; i < buffers.count; i++)
        bytes += buffers.first[i].iov_len;
    return bytes;
}

/* What is left, or the first of it. */
struct part {
    struct iovec buffer[BUFFERS];
    size_t count;
    uint64_t bytes;
};

static void take_part(const struct transfer *transfer, struct part *part) {
    const struct iovec one = {(void *)transfer->call->argument[1],
                              (size_t)transfer->call->argument[2]};
    struct buffers buffers = is_plain(transfer) ? (struct buffers){&one, 1} : buffers_of(transfer);
    uint64_t done = transfer->done;
    part->count = part->bytes = 0;
    for (size_t i = 0; i < buffers.count && part->count < BUFFERS; i++) {
        struct iovec buffer = buffers.first[i];
        uint64_t skip = done < buffer.iov_len ? done : buffer.iov_len, left = buffer.iov_len - skip;
        done -= skip;
        part->bytes += left;
        if (left > 0)
            part->buffer[part->count++] = (struct iovec){(char *)buffer.iov_base + skip, left};
    }
}

/* ---- who waits for it ---- */

static int descriptor(const struct transfer *transfer) {
    return (int)transfer->call->argument[0];
}

static mode_t type_of(int fd) {
    struct stat file;
    return sys2(SYS_fstat, fd, &file) == 0 ? file.st_mode & S_IFMT : 0;
}

/* One that does not wait ends short by itself, and so does a file at its end. */
bool transfer_is_cut(const struct transfer *transfer) {
    int fd = descriptor(transfer);
    if (transfer->done == 0 || transfer->done >= asked(transfer))
        return false;
    if (transfer->kind == OPEN_MEMORY)
        return sleep_is_memory(fd);
    mode_t type = type_of(fd);
    int64_t modes = (int64_t)sys2(SYS_fcntl, fd, F_GETFL);
    return type != 0 && type != S_IFREG && modes >= 0 && (modes & O_NONBLOCK) == 0 &&
           (transfer->flags & MSG_DONTWAIT) == 0;
}

bool transfer_is_terminal(int fd) {
    struct termios unused;
    return sys3(SYS_ioctl, fd, TCGETS, &unused) == 0;
}

/* ---- the rest ---- */

/* Waits until a byte can be written. Whatever handler of the application runs meanwhile ends that,
 * as it would have ended the call, with or without SA_RESTART: the kernel makes no call again that
 * has written something. `revents`: what there is beside room. */
static bool wait_for_room(int fd, uint64_t until_ns, short *revents) {
    int (*real)(struct pollfd *, nfds_t, int) =
        (int (*)(struct pollfd *, nfds_t, int))sleep_slots[NUMBER_poll];
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    int wait = -1;
    if (until_ns != UINT64_MAX) {
        uint64_t now = ticker_now(CLOCK_MONOTONIC);
        wait = now < until_ns ? (int)((until_ns - now + MS_NS - 1) / MS_NS) : 0;
    }
    bool ready = real(&one, 1, wait) == 1;
    *revents = one.revents;
    return ready;
}

/* When the socket's time is over, by CLOCK_MONOTONIC; UINT64_MAX: never. */
static uint64_t deadline(const struct transfer *transfer) {
    struct timeval limit = {0, 0};
    socklen_t length = sizeof limit;
    if (sys5(SYS_getsockopt, descriptor(transfer), SOL_SOCKET, SO_SNDTIMEO, &limit, &length) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0))
        return UINT64_MAX;
    return transfer->call->began_ns + (uint64_t)limit.tv_sec * SECOND_NS +
           (uint64_t)limit.tv_usec * 1000;
}

union control {
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr header; /* alignment */
};

/* Of what goes with a message, descriptors have gone with its first part, but the kernel gives
 * credentials to each. Returns the bytes that were put into *control. */
static size_t credentials_of(const struct transfer *transfer, union control *control) {
    const struct msghdr *message = (const struct msghdr *)transfer->call->argument[1];
    if (transfer->kind != OPEN_MESSAGE || message->msg_control == NULL)
        return 0;
    struct msghdr given = *message;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&given); one != NULL; one = CMSG_NXTHDR(&given, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS ||
            one->cmsg_len != CMSG_LEN(sizeof(struct ucred)))
            continue;
        *control = (union control){.bytes = {0}};
        memcpy(control, one, one->cmsg_len);
        return sizeof *control;
    }
    return 0;
}

static int64_t send_part(const struct transfer *transfer, struct part *part, int flags) {
    ssize_t (*real)(int, const struct msghdr *, int) =
        (ssize_t(*)(int, const struct msghdr *, int))sleep_slots[NUMBER_sendmsg];
    union control control;
    size_t bytes = credentials_of(transfer, &control);
    const struct msghdr message = {.msg_iov = part->buffer,
                                   .msg_iovlen = part->count,
                                   .msg_control = bytes > 0 ? &control : NULL,
                                   .msg_controllen = bytes};
    return real(descriptor(transfer), &message, transfer->flags | MSG_NOSIGNAL | flags);
}

static int64_t move_part(const struct transfer *transfer, const struct part *part) {
    bool reads = transfer->kind == OPEN_MEMORY;
    ssize_t (*real)(int, const struct iovec *, int) = (ssize_t(*)(
        int, const struct iovec *, int))sleep_slots[reads ? NUMBER_readv : NUMBER_writev];
    return real(descriptor(transfer), part->buffer, (int)part->count);
}

/* Where the socket has a time, that is kept by wait_for_room alone. The error of one that is closed
 * is left to the next call: nothing is sent then. (POLLERR alone says that the program may read
 * about a packet.) (One that comes right between both is had here, and the next call
 * says EPIPE, as the one after it would have done.) */
static void finish_socket(struct transfer *transfer) {
    uint64_t all = asked(transfer), until = deadline(transfer);
    bool timed = until != UINT64_MAX;
    short events;
    while (transfer->done < all && wait_for_room(descriptor(transfer), until, &events) &&
           (events & (POLLHUP | POLLNVAL)) == 0) {
        struct part part;
        take_part(transfer, &part);
        int64_t sent = send_part(transfer, &part, timed ? MSG_DONTWAIT : 0);
        transfer->done += sent > 0 ? (uint64_t)sent : 0;
        if (sent < 0 ? errno != EAGAIN : (uint64_t)sent < part.bytes && !timed)
            break;
    }
}

/* Not every device does so. One that does not has its rest at once, or takes it when it can. */
static bool tells_of_room(int fd) {
    return type_of(fd) != S_IFCHR || transfer_is_terminal(fd);
}

static void finish_plain(struct transfer *transfer) {
    uint64_t all = asked(transfer);
    bool waits = transfer->kind != OPEN_MEMORY && tells_of_room(descriptor(transfer));
    short events;
    while (transfer->done < all &&
           (!waits || wait_for_room(descriptor(transfer), UINT64_MAX, &events))) {
        struct part part;
        take_part(transfer, &part);
        int64_t made = move_part(transfer, &part);
        transfer->done += made > 0 ? (uint64_t)made : 0;
        if (made < 0 || (uint64_t)made < part.bytes)
            break;
    }
}

uint64_t transfer_finish(struct transfer *transfer) {
    if (transfer->kind != OPEN_MEMORY && type_of(descriptor(transfer)) == S_IFSOCK)
        finish_socket(transfer);
    else
        finish_plain(transfer);
    return transfer->done;
}
