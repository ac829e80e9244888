/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * connect.c - one round trip over the Unix socket, two descriptors received, mapped and closed.
 *
 * May run inside the signal handler of a process that is up already, so there is no libc call that
 * could lock, allocate or be a cancellation point; and the descriptors live for one exchange only.
 */
#include "preload/life/connect.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "preload/life/memory.h"
#include "preload/life/session_blocks.h"
#include "preload/life/stopped.h"
#include "preload/life/sys.h"

#define SECOND  1000000000l
#define SOON_NS 200000l

static int open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, length + 1);
    long fd = sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (sys3(SYS_connect, fd, &address, sizeof address) < 0) {
        sys1(SYS_close, fd);
        return -1;
    }
    return (int)fd;
}

static bool say_hello(int fd, const struct wire_hello *request) {
    struct wire_hello hello = *request;
    memcpy(hello.magic, WIRE_HELLO_MAGIC, sizeof hello.magic);
    hello.version = WIRE_VERSION;
    hello.size = sizeof hello;
    hello.pid = (uint32_t)sys0(SYS_getpid);
    return sys6(SYS_sendto, fd, &hello, sizeof hello, MSG_NOSIGNAL, 0, 0) == (long)sizeof hello;
}

/* Poll may be interrupted by a signal of the application; the answer is worth one more wait. */
static bool wait_readable(int fd, long wait_ns) {
    struct timespec limit = {wait_ns / SECOND, wait_ns % SECOND};
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    long n;
    do {
        n = sys5(SYS_ppoll, &ready, 1, &limit, 0, 0); /* the kernel takes off what has passed */
    } while (n == -EINTR);
    return n == 1;
}

/* A hcctd that is not answering by now is busy, or stopped. */
static bool wait_for_answer(int fd, int wait_ms, bool *waited) {
    if (wait_readable(fd, SOON_NS))
        return true;
    if (stopped_is_peer(fd))
        return false;
    *waited = !wait_readable(fd, wait_ms * 1000000l);
    return !*waited;
}

static bool receive(int fd, struct connect_answer *answer) {
    struct wire_welcome *welcome = &answer->welcome;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec part = {welcome, sizeof *welcome};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (sys3(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC) != (long)sizeof *welcome)
        return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
        memcpy(answer->fds, CMSG_DATA(c), 2 * sizeof(int));
    return memcmp(welcome->magic, WIRE_HELLO_MAGIC, sizeof welcome->magic) == 0 &&
           welcome->version == WIRE_VERSION && welcome->status == WIRE_STATUS_OK &&
           answer->fds[1] >= 0;
}

static void *map(int fd, size_t bytes, int protection) {
    return memory_map(bytes, protection, MAP_SHARED | MAP_NORESERVE, fd);
}

/* Where the address space is limited (RLIMIT_AS): threads and tables that have room in this; for
 * more threads there is no slot, and stacks in code without a table are sent as copies. */
#define SMALL_SESSION (4u << 20)
#define SMALL_ARENA   (16u << 20)

static void choose_sizes(const struct wire_welcome *welcome, struct connect_result *result) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    sys2(SYS_getrlimit, RLIMIT_AS, &limit);
    bool small = limit.rlim_cur != RLIM_INFINITY;
    result->slot_bytes = welcome->slot_bytes;
    result->slots =
        small ? (unsigned)(SMALL_SESSION / welcome->slot_bytes) : (unsigned)WIRE_SLOTS_MAX;
    result->session_bytes = small ? WIRE_SLOTS_OFFSET + result->slots * result->slot_bytes
                                  : WIRE_SESSION_BYTES(result->slot_bytes);
    result->arena_bytes =
        small && welcome->arena_bytes > SMALL_ARENA ? SMALL_ARENA : welcome->arena_bytes;
}

static bool map_both(const struct wire_welcome *welcome, const int fds[2],
                     struct connect_result *result) {
    if (welcome->slot_bytes == 0 ||
        welcome->session_bytes != WIRE_SESSION_BYTES(welcome->slot_bytes))
        return false;
    choose_sizes(welcome, result);
    result->session = map(fds[0], result->session_bytes, PROT_READ | PROT_WRITE);
    if (result->session == NULL)
        return false;
    result->arena = map(fds[1], result->arena_bytes, PROT_READ);
    if (result->arena == NULL) {
        sys2(SYS_munmap, result->session, result->session_bytes);
        return false;
    }
    /* a child of fork shall not even be able to touch its parent's rings; a core needs neither */
    sys3(SYS_madvise, result->session, result->session_bytes, MADV_DONTFORK);
    sys3(SYS_madvise, result->session, result->session_bytes, MADV_DONTDUMP);
    sys3(SYS_madvise, result->arena, result->arena_bytes, MADV_DONTFORK);
    sys3(SYS_madvise, result->arena, result->arena_bytes, MADV_DONTDUMP);
    return true;
}

static void close_both(const struct connect_answer *answer) {
    for (int i = 0; i < 2; i++)
        if (answer->fds[i] >= 0)
            sys1(SYS_close, answer->fds[i]);
}

bool connect_ask(const char *path, const struct wire_hello *request, int wait_ms,
                 struct connect_answer *answer) {
    answer->fds[0] = answer->fds[1] = -1;
    int fd = open_socket(path);
    answer->reached = fd >= 0;
    answer->waited = false;
    if (fd < 0)
        return false;
    bool ok = say_hello(fd, request) && wait_for_answer(fd, wait_ms, &answer->waited) &&
              receive(fd, answer);
    sys1(SYS_close, fd);
    if (!ok)
        close_both(answer);
    return ok;
}

bool connect_map(const struct connect_answer *answer, struct connect_result *result) {
    bool mapped =
        session_blocks_follow(answer->fds[0]) && map_both(&answer->welcome, answer->fds, result);
    close_both(answer);
    return mapped;
}
