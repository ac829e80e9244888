/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * renderer.c - the daemon's side: files without names for order and answer, the server's life, and
 * the wait.
 */
#include "daemon/render/renderer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/base/spawn_self.h"
#include "daemon/render/render_counts.h"

#define BUFFER_BYTES 65536

enum { OK = 200, FAILED = 500, UNAVAILABLE = 503 };

static struct {
    pthread_mutex_t lock; /* for the server */
    int socket;
    pid_t pid; /* 0: there is no server */
    struct render_limits limits;
    int interrupted; /* an eventfd: readable while renderings are to end */
} renderer = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1, .interrupted = -1};

/* ---- the server's life; all under the lock, but at the start ---- */

static void fork_server(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        render_server_run(ends[1], &renderer.limits);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return;
    }
    renderer.pid = pid;
    renderer.socket = ends[0];
}

static bool spawn_server(void) {
    char program[] = "/proc/self/exe", role[] = RENDERER_ROLE, memory[24], seconds[16];
    char *arguments[] = {program, role, memory, seconds, NULL};
    snprintf(memory, sizeof memory, "%" PRIu64, renderer.limits.memory);
    snprintf(seconds, sizeof seconds, "%u", renderer.limits.seconds);
    return spawn_self(program, arguments, SOCK_SEQPACKET, &renderer.pid, &renderer.socket);
}

static void forget_server(void) {
    close(renderer.socket);
    renderer.socket = -1;
    renderer.pid = 0;
}

/* Root without CAP_KILL, as in the service, may not kill what is user nobody: the server ends by
 * itself when its socket is closed, and is waited for only where it can be made to end. */
static void end_server(void) {
    pid_t pid = renderer.pid;
    if (pid == 0)
        return;
    forget_server();
    int options = kill(pid, SIGKILL) == 0 ? 0 : WNOHANG;
    while (waitpid(pid, NULL, options) < 0 && errno == EINTR)
        ;
}

/* One that was killed is not waited for until somebody asks. */
static void notice_end(void) {
    if (renderer.pid != 0 && waitpid(renderer.pid, NULL, WNOHANG) == renderer.pid) {
        complain("the process that forks renderers has ended: another is started");
        forget_server();
    }
}

void renderer_start(const struct render_limits *limits) {
    renderer.limits = *limits;
    renderer.interrupted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fork_server();
}

void renderer_stop(void) {
    pthread_mutex_lock(&renderer.lock);
    end_server();
    pthread_mutex_unlock(&renderer.lock);
}

void renderer_main(int argc, char **argv) {
    struct render_limits limits = {.memory = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
                                   .seconds = argc > 3 ? (unsigned)atoi(argv[3]) : 0};
    if (limits.memory == 0 || limits.seconds == 0)
        _exit(EXIT_FAILURE);
    render_server_run(SPAWN_SELF_FD, &limits);
}

void renderer_interrupt(bool on) {
    uint64_t number = 1;
    ssize_t n = on ? write(renderer.interrupted, &number, sizeof number)
                   : read(renderer.interrupted, &number, sizeof number);
    (void)n; /* it is so already */
}

/* ---- an order ---- */

struct sent {
    int fd[RENDER_DESCRIPTORS + RENDER_FILES_MAX];
    unsigned n;
};

static bool send_order(int socket, const struct sent *sent) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof sent->fd)];
    } control;
    size_t bytes = sent->n * sizeof(int);
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(bytes)};
    memset(&control, 0, sizeof control);
    control.head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)};
    memcpy(CMSG_DATA(&control.head), sent->fd, bytes);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* To the server, or to a new one when it has ended. False: `text` says why not. */
static bool hand_over(const struct sent *all, char *text, size_t text_bytes) {
    bool sent = false;
    pthread_mutex_lock(&renderer.lock);
    notice_end();
    for (int tries = 0; tries < 2 && !sent; tries++) {
        if (renderer.pid == 0 && !spawn_server()) {
            snprintf(text, text_bytes,
                     "there is no process that renders, and none can be started from "
                     "/proc/self/exe: %s; ask for json or pprof, which need none",
                     strerror(errno));
            break;
        }
        sent = send_order(renderer.socket, all);
        if (!sent && errno == EAGAIN) { /* stopped, and many have asked */
            snprintf(text, text_bytes, "the process that renders takes no orders: is it stopped?");
            break;
        }
        if (!sent) {
            snprintf(text, text_bytes, "the process that renders can't be asked: %s",
                     strerror(errno));
            end_server();
        }
    }
    pthread_mutex_unlock(&renderer.lock);
    return sent;
}

bool rendering_open(struct rendering *rendering) {
    *rendering = (struct rendering){
        .order_fd = memfd_create("hcct-order", MFD_CLOEXEC),
        .answer_fd = memfd_create("hcct-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    int fd = rendering->order_fd >= 0 && rendering->answer_fd >= 0
                 ? fcntl(rendering->order_fd, F_DUPFD_CLOEXEC, 0)
                 : -1;
    rendering->order = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (rendering->order != NULL && setvbuf(rendering->order, NULL, _IOFBF, BUFFER_BYTES) == 0)
        return true;
    if (rendering->order == NULL && fd >= 0)
        close(fd);
    rendering_close(rendering);
    return false;
}

bool rendering_order_done(struct rendering *rendering) {
    bool done = fclose(rendering->order) == 0;
    rendering->order = NULL;
    return done && lseek(rendering->order_fd, 0, SEEK_SET) == 0;
}

int rendering_keep(struct rendering *rendering) {
    int fd = rendering->answer_fd;
    rendering->answer_fd = -1;
    return fd;
}

void rendering_close(struct rendering *rendering) {
    if (rendering->order != NULL)
        fclose(rendering->order);
    if (rendering->order_fd >= 0)
        close(rendering->order_fd);
    if (rendering->answer_fd >= 0)
        close(rendering->answer_fd);
    for (unsigned i = 0; i < rendering->files.n; i++)
        close(rendering->files.fd[i]);
    *rendering = (struct rendering){.order_fd = -1, .answer_fd = -1};
}

bool rendering_copy(const struct rendering *rendering, FILE *out) {
    char block[65536];
    size_t done = 0;
    while (done < rendering->bytes) {
        ssize_t n = pread(rendering->answer_fd, block, sizeof block, (off_t)done);
        if (n <= 0 || fwrite(block, 1, (size_t)n, out) != (size_t)n)
            return false;
        done += (size_t)n;
    }
    return fflush(out) == 0;
}

/* ---- the wait ---- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum waited { SAID, LATE, GONE, INTERRUPTED };

static unsigned deadline_seconds(void) {
    return RENDER_PATIENCE * renderer.limits.seconds;
}

static enum waited wait_for(int status, int client) {
    int64_t end = now_ms() + (int64_t)deadline_seconds() * 1000;
    struct pollfd watched[] = {{.fd = status, .events = POLLIN},
                               {.fd = renderer.interrupted, .events = POLLIN},
                               {.fd = client}};
    for (;;) {
        int64_t left = end - now_ms();
        int n = poll(watched, 3, left > 0 ? (int)left : 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return LATE;
        if (watched[0].revents != 0)
            return SAID;
        return watched[1].revents != 0 ? INTERRUPTED : GONE;
    }
}

static unsigned say_late(const char *of, unsigned seconds, char *text, size_t text_bytes) {
    render_count(RENDER_END_LATE);
    snprintf(text, text_bytes,
             "rendering took more than %u s%s: ask for less (n=, phi=, pid=), or give it more "
             "(--render-time)",
             seconds, of);
    return UNAVAILABLE;
}

static unsigned say_signal(int signal, char *text, size_t text_bytes) {
    if (signal == SIGXCPU)
        return say_late(" of CPU time", renderer.limits.seconds, text, text_bytes);
    render_count(RENDER_END_KILLED);
    if (signal == SIGXFSZ)
        snprintf(text, text_bytes,
                 "the answer is larger than 1 GiB: ask for less (n=, phi=, pid=)");
    else
        snprintf(text, text_bytes,
                 "the process that rendered the answer was ended by signal %d (%s): ask again, or "
                 "for less (n=, phi=, pid=)",
                 signal, strsignal(signal));
    if (signal != SIGXFSZ)
        complain("a renderer was ended by signal %d", signal);
    return FAILED;
}

static unsigned say_ended(int status, char *text, size_t text_bytes) {
    if (WIFSIGNALED(status))
        return say_signal(WTERMSIG(status), text, text_bytes);
    render_count(RENDER_END_KILLED);
    snprintf(text, text_bytes,
             "the process that rendered the answer ended without one (status %d): ask again",
             WEXITSTATUS(status));
    complain("a renderer ended with status %d", WEXITSTATUS(status));
    return FAILED;
}

/* The answer's size can't change any more, and is what was said. */
static unsigned accept_answer(struct rendering *rendering, uint64_t bytes, char *text,
                              size_t text_bytes) {
    struct stat is;
    if (fcntl(rendering->answer_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 &&
        fstat(rendering->answer_fd, &is) == 0 && (uint64_t)is.st_size == bytes) {
        render_count(RENDER_END_WHOLE);
        rendering->bytes = bytes;
        return OK;
    }
    render_count(RENDER_END_KILLED);
    snprintf(text, text_bytes, "the answer is not whole: ask again");
    return FAILED;
}

static unsigned take_message(struct rendering *rendering, int status_fd, char *text,
                             size_t text_bytes) {
    struct render_message message;
    ssize_t n = recv(status_fd, &message, sizeof message, MSG_DONTWAIT);
    if (n != (ssize_t)sizeof message) {
        render_count(RENDER_END_KILLED);
        snprintf(text, text_bytes,
                 "the process that forks renderers was ended, and the answer with it: ask again");
        return UNAVAILABLE;
    }
    message.text[RENDER_TEXT - 1] = '\0';
    switch (message.kind) {
    case RENDER_WHOLE:
        return accept_answer(rendering, message.bytes, text, text_bytes);
    case RENDER_REFUSED:
        render_count(RENDER_END_REFUSED);
        snprintf(text, text_bytes, "%s", message.text);
        return message.status >= 400 && message.status < 600 ? message.status : FAILED;
    case RENDER_NO_CHILD:
        render_count(RENDER_END_KILLED);
        snprintf(text, text_bytes, "no renderer can be forked: %s", strerror((int)message.status));
        return UNAVAILABLE;
    default:
        return say_ended((int)message.status, text, text_bytes);
    }
}

static unsigned wait_and_take(struct rendering *rendering, int status_fd, int client, char *text,
                              size_t text_bytes) {
    switch (wait_for(status_fd, client)) {
    case SAID:
        return take_message(rendering, status_fd, text, text_bytes);
    case LATE:
        return say_late("", deadline_seconds(), text, text_bytes);
    case INTERRUPTED:
        snprintf(text, text_bytes, "hcctd ends: the answer is not rendered any more");
        return UNAVAILABLE;
    default:
        snprintf(text, text_bytes, "the client has gone");
        return UNAVAILABLE;
    }
}

unsigned rendering_run(struct rendering *rendering, int client, char *text, size_t text_bytes) {
    int ends[2];
    unsigned status = UNAVAILABLE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        snprintf(text, text_bytes, "hcctd has no descriptors for a renderer: %s", strerror(errno));
        return UNAVAILABLE;
    }
    struct sent all = {.fd = {[RENDER_ORDER] = rendering->order_fd,
                              [RENDER_ANSWER] = rendering->answer_fd,
                              [RENDER_STATUS] = ends[1]},
                       .n = RENDER_DESCRIPTORS + rendering->files.n};
    memcpy(all.fd + RENDER_DESCRIPTORS, rendering->files.fd, rendering->files.n * sizeof *all.fd);
    bool asked = hand_over(&all, text, text_bytes);
    close(ends[1]);
    if (asked)
        status = wait_and_take(rendering, ends[0], client, text, text_bytes);
    close(ends[0]); /* a renderer that is still there is killed now */
    return status;
}
