/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer.c - by functions that take several buffers, of which a few at a time are given.
 */
#include "preload/wrap/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

/* What is left, as far as it has room in `left`; returns how many. */
static size_t rest(const struct transfer *transfer, struct iovec left[BUFFERS]) {
    const struct iovec one = {(void *)transfer->call->argument[1],
                              (size_t)transfer->call->argument[2]};
    struct buffers buffers = is_plain(transfer) ? (struct buffers){&one, 1} : buffers_of(transfer);
    uint64_t done = transfer->done;
    size_t n = 0;
    for (size_t i = 0; i < buffers.count && n < BUFFERS; i++) {
        struct iovec buffer = buffers.first[i];
        uint64_t skip = done < buffer.iov_len ? done : buffer.iov_len;
        done -= skip;
        if (buffer.iov_len > skip)
            left[n++] = (struct iovec){(char *)buffer.iov_base + skip, buffer.iov_len - skip};
    }
    return n;
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

/* ---- a socket ---- */

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

/* Looks and does not take: an error that is there is the next call's. */
static bool can_send(int fd, uint64_t until_ns) {
    int (*real)(struct pollfd *, nfds_t, int) =
        (int (*)(struct pollfd *, nfds_t, int))sleep_slots[NUMBER_poll];
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    int wait = -1;
    if (until_ns != UINT64_MAX) {
        uint64_t now = ticker_now(CLOCK_MONOTONIC);
        wait = now < until_ns ? (int)((until_ns - now + MS_NS - 1) / MS_NS) : 0;
    }
    return real(&one, 1, wait) == 1 && one.revents == POLLOUT;
}

/* What goes with a message has gone with its first part. */
static int64_t send_some(const struct transfer *transfer) {
    ssize_t (*real)(int, const struct msghdr *, int) =
        (ssize_t(*)(int, const struct msghdr *, int))sleep_slots[NUMBER_sendmsg];
    struct iovec left[BUFFERS];
    struct msghdr message = {.msg_iov = left, .msg_iovlen = rest(transfer, left)};
    return real(descriptor(transfer), &message, transfer->flags | MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void finish_socket(struct transfer *transfer) {
    uint64_t all = asked(transfer), until = deadline(transfer);
    while (transfer->done < all && can_send(descriptor(transfer), until)) {
        int64_t sent = send_some(transfer);
        if (sent < 0 && errno != EAGAIN)
            break;
        transfer->done += sent > 0 ? (uint64_t)sent : 0;
    }
}

/* ---- anything else ---- */

static void finish_plain(struct transfer *transfer) {
    ssize_t (*real)(int, const struct iovec *, int) =
        (ssize_t(*)(int, const struct iovec *,
                    int))sleep_slots[transfer->kind == OPEN_MEMORY ? NUMBER_readv : NUMBER_writev];
    uint64_t all = asked(transfer);
    while (transfer->done < all) {
        struct iovec left[BUFFERS];
        uint64_t wanted = 0;
        size_t n = rest(transfer, left);
        for (size_t i = 0; i < n; i++)
            wanted += left[i].iov_len;
        int64_t made = real(descriptor(transfer), left, (int)n);
        transfer->done += made > 0 ? (uint64_t)made : 0;
        if (made < 0 || (uint64_t)made < wanted)
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
