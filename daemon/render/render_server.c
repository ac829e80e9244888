/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_server.c - poll(): the daemon, ends of children, answers that nobody wants any more.
 */
#include "daemon/render/render_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/confine.h"
#include "daemon/render/descriptors.h"
#include "daemon/render/render_child.h"
#include "daemon/render/render_protocol.h"

#define CHILDREN_MAX 64 /* the daemon asks for fewer at once (render_slots.h) */
#define SOCKET       3

/* What the program may have at its start, where /proc does not say. */
#define PROGRAM_BYTES (512ull << 20)

struct server {
    const struct render_limits *limits;
    int signals;
    unsigned n;
    struct child {
        pid_t pid;
        int status;  /* the renderer's end of its socket pair */
        bool killed; /* nobody wants its answer any more */
    } child[CHILDREN_MAX];
};

/* ---- the process itself ---- */

/* When the machine or the control group has no memory left, a renderer goes, and not the daemon. */
static void offer_to_be_killed(void) {
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    if (f == NULL)
        return;
    fputs("1000\n", f);
    fclose(f);
}

static bool leave_descriptors(int socket) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < SOCKET; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    return descriptors_keep(&socket, 1, SOCKET);
}

/* What a service manager or a shell has put there may be secret. */
static void leave_environment(void) {
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        memset(*variable, 0, strlen(*variable));
    clearenv();
}

/* Signals to a terminal's or a service's group are the daemon's: answers that are under way end
 * with it, and not before. */
static void leave_signals(void) {
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
}

/* -1: there is no descriptor for it. */
static int watch_children(void) {
    sigset_t set;
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- renderers ---- */

static void report(int status_fd, enum render_kind kind, int status) {
    struct render_message message = {.kind = kind, .status = (uint32_t)status};
    ssize_t n = send(status_fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* the daemon may not want to know any more */
}

/* What comes with an order. */
struct received {
    int fd[RENDER_DESCRIPTORS + RENDER_FILES_MAX];
    unsigned n;
};

static _Noreturn void be_child(struct server *server, const struct received *received,
                               pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    render_child_run(received->fd, received->n, parent, server->limits->seconds);
}

static void start_child(struct server *server, const struct received *received) {
    int status = received->fd[RENDER_STATUS];
    pid_t parent = getpid();
    pid_t pid = -1;
    errno = EAGAIN;
    if (server->n < CHILDREN_MAX)
        pid = fork();
    if (pid == 0)
        be_child(server, received, parent);
    for (unsigned i = 0; i < received->n; i++)
        if (received->fd[i] != status)
            close(received->fd[i]);
    if (pid > 0) {
        server->child[server->n++] = (struct child){.pid = pid, .status = status};
        return;
    }
    report(status, RENDER_NO_CHILD, errno);
    close(status);
}

static void child_ended(struct server *server, pid_t pid, int status) {
    for (unsigned i = 0; i < server->n; i++)
        if (server->child[i].pid == pid) {
            report(server->child[i].status, RENDER_ENDED, status);
            close(server->child[i].status);
            server->child[i] = server->child[--server->n];
            return;
        }
}

static void reap(struct server *server) {
    struct signalfd_siginfo info;
    pid_t pid;
    int status;
    while (read(server->signals, &info, sizeof info) > 0)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        child_ended(server, pid, status);
}

/* ---- the daemon ---- */

/* One order. False: the daemon is gone, or this is none. */
static bool receive(struct received *received) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof received->fd)];
    } control;
    char byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t n;
    do {
        n = recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(RENDER_DESCRIPTORS * sizeof(int)) ||
        head->cmsg_len > CMSG_LEN(sizeof received->fd))
        return false;
    received->n = (unsigned)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(received->fd, CMSG_DATA(head), received->n * sizeof(int));
    return true;
}

static void kill_unwanted(struct server *server, const struct pollfd *watched) {
    for (unsigned i = 0; i < server->n; i++)
        if (watched[i].revents != 0) {
            kill(server->child[i].pid, SIGKILL);
            server->child[i].killed = true;
        }
}

/* Waits for what comes next. False: the daemon is gone. */
static bool serve(struct server *server) {
    struct pollfd watched[2 + CHILDREN_MAX] = {{.fd = SOCKET, .events = POLLIN},
                                               {.fd = server->signals, .events = POLLIN}};
    struct received received;
    for (unsigned i = 0; i < server->n; i++)
        watched[2 + i].fd =
            server->child[i].killed ? -1 : server->child[i].status; /* for its end */
    if (poll(watched, 2 + server->n, -1) < 0)
        return errno == EINTR;
    kill_unwanted(server, watched + 2);
    if (watched[1].revents != 0)
        reap(server);
    if (watched[0].revents == 0)
        return true;
    if (!receive(&received))
        return false;
    start_child(server, &received);
    return true;
}

void render_server_run(int socket, const struct render_limits *limits) {
    struct server server = {.limits = limits};
    leave_signals();
    leave_environment();
    prctl(PR_SET_NAME, "hcctd-render");
    if (!leave_descriptors(socket))
        _exit(EXIT_FAILURE);
    uint64_t program = confine_address_space();
    confine_memory((program != 0 ? program : PROGRAM_BYTES) + limits->memory);
    offer_to_be_killed();
    confine_user();
    confine_rights(false);
    server.signals = watch_children();
    while (server.signals >= 0 && serve(&server))
        ;
    _exit(EXIT_SUCCESS); /* renderers end with it */
}
