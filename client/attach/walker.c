/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walker.c - one request after the other, over a pair of sockets.
 */
#include "client/attach/walker.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/module_open.h"

#define WALK_MS      20   /* a thread stands still meanwhile */
#define READ_MS      2000 /* for files */
#define CPU_SECONDS  30
#define MEMORY_BYTES (1ull << 30)

struct walker {
    const struct target *target;
    struct walk *here; /* NULL: there is a helper */
    pid_t helper;
    int socket; /* -1: it is late, or gone */
    struct stat user;
    unsigned helpers; /* so many were begun */
};

enum what { PREPARE, STACK, LEARN };

struct request {
    enum what what;
    struct code code;
    size_t ranges;
    struct user_regs_struct regs;
};

/* Of the helper. */
struct answer {
    enum walked walked;
    uint64_t needs; /* 0: that is the answer; else the file is to be sent that is mapped there */
};

/* ---- a descriptor between them ---- */

/* -1 is sent as none. */
static bool send_file(int socket, int fd) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof fd)];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof fd),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    char byte = 0;
    struct iovec part = {&byte, sizeof byte};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof byte;
}

static int receive_file(int socket) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec part = {&byte, sizeof byte};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof byte)
        return -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/* ---- the helper ---- */

/* By its own rights, if they are enough. */
static int open_or_ask(void *context, const struct target *target, uint64_t start) {
    const struct answer answer = {.needs = start};
    const int *socket = context;
    int fd = walk_open_here(NULL, target, start);
    if (fd >= 0)
        return fd;
    if (write(*socket, &answer, sizeof answer) != (ssize_t)sizeof answer)
        return -1;
    return receive_file(*socket);
}

static enum walked serve(struct walk *walk, struct target *target, const struct request *request) {
    switch (request->what) {
    case PREPARE:
        if (target_read_maps(target))
            walk_prepare(walk);
        break;
    case LEARN:
        walk_learn(walk);
        break;
    case STACK:
        return walk_stack(walk, &request->code, request->ranges, &request->regs);
    }
    return WALKED_CLEAR;
}

/* What that user might not be able to open is open already. */
static bool give_rights_up(const struct stat *user) {
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS}, memory = {MEMORY_BYTES, MEMORY_BYTES};
    return setgroups(0, NULL) == 0 && setresgid(user->st_gid, user->st_gid, user->st_gid) == 0 &&
           setresuid(user->st_uid, user->st_uid, user->st_uid) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && setrlimit(RLIMIT_CPU, &cpu) == 0 &&
           setrlimit(RLIMIT_AS, &memory) == 0;
}

_Noreturn static void help(struct target target, const struct stat *user, int socket) {
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct request request;
    setitimer(ITIMER_REAL, &never, NULL);
    (void)setpriority(PRIO_PROCESS, 0, -20); /* a thread stands still while it is awaited */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool can = target_keep(&target) && give_rights_up(user);
    struct walk *walk = can ? walk_new(&target, open_or_ask, &socket) : NULL;
    while (walk != NULL && read(socket, &request, sizeof request) == (ssize_t)sizeof request) {
        const struct answer answer = {.walked = serve(walk, &target, &request)};
        if (write(socket, &answer, sizeof answer) != (ssize_t)sizeof answer)
            break;
    }
    _exit(0);
}

/* ---- who asks it ---- */

static bool is_others(const struct target *target, struct stat *user) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)target->pid);
    return geteuid() == 0 && stat(path, user) == 0 && user->st_uid != 0;
}

static bool start_helper(struct walker *walker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    walker->helper = fork();
    if (walker->helper == 0)
        help(*walker->target, &walker->user, ends[1]);
    close(ends[1]);
    walker->socket = ends[0];
    walker->helpers++;
    return walker->helper > 0;
}

struct walker *walker_new(const struct target *target) {
    struct walker *walker = calloc(1, sizeof *walker);
    if (walker == NULL)
        return NULL;
    walker->target = target;
    walker->socket = -1;
    bool can = is_others(target, &walker->user)
                   ? start_helper(walker)
                   : (walker->here = walk_new(target, walk_open_here, NULL)) != NULL;
    if (can)
        return walker;
    walker_free(walker);
    return NULL;
}

static void give_helper_up(struct walker *walker) {
    if (walker->socket >= 0)
        close(walker->socket);
    walker->socket = -1;
    if (walker->helper <= 0)
        return;
    kill(walker->helper, SIGKILL);
    while (waitpid(walker->helper, NULL, 0) < 0 && errno == EINTR)
        ;
    walker->helper = 0;
}

void walker_free(struct walker *walker) {
    if (walker == NULL)
        return;
    walk_free(walker->here);
    give_helper_up(walker);
    free(walker);
}

static bool comes(int socket, int ms) {
    struct pollfd answer = {.fd = socket, .events = POLLIN};
    int n;
    do {
        n = poll(&answer, 1, ms);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

/* The very file that the process has mapped: not by a path, which may name another one by now. */
static int open_mapped(const struct target *target, uint64_t start) {
    const struct target_map *map = target_map_at(target, start);
    char path[96];
    if (map == NULL || !map->executable)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)target->pid,
             map->start, map->end);
    return module_open_path(path);
}

static bool give_file(const struct walker *walker, uint64_t start) {
    int fd = open_mapped(walker->target, start);
    bool sent = send_file(walker->socket, fd);
    if (fd >= 0)
        close(fd);
    return sent;
}

#define FILES_MOST 64

/* False: it is late, or gone. `files`: so many may it ask for before. */
static bool hear(const struct walker *walker, int ms, int files, enum walked *walked) {
    struct answer answer;
    for (int i = 0; i <= files; i++) {
        if (!comes(walker->socket, ms) ||
            read(walker->socket, &answer, sizeof answer) != (ssize_t)sizeof answer)
            return false;
        *walked = answer.walked;
        if (answer.needs == 0)
            return true;
        if (i == files || !give_file(walker, answer.needs))
            return false;
    }
    return false;
}

static enum walked ask(struct walker *walker, const struct request *request, int ms) {
    enum walked walked;
    if (walker->socket >= 0 &&
        send(walker->socket, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request &&
        hear(walker, ms, request->what == LEARN ? FILES_MOST : 0, &walked))
        return walked;
    give_helper_up(walker);
    return WALKED_LOCKED;
}

#define HELPERS_MOST 16

/* One that was late, as others had the processors, has another one after it. */
void walker_prepare(struct walker *walker) {
    const struct request request = {.what = PREPARE};
    if (walker->here == NULL && walker->socket < 0 && walker->helpers < HELPERS_MOST)
        (void)start_helper(walker);
    if (walker->here != NULL)
        walk_prepare(walker->here);
    else
        (void)ask(walker, &request, READ_MS);
}

void walker_learn(struct walker *walker) {
    const struct request request = {.what = LEARN};
    if (walker->here != NULL)
        walk_learn(walker->here);
    else
        (void)ask(walker, &request, READ_MS);
}

enum walked walker_stack(struct walker *walker, const struct code *code, size_t ranges,
                         const struct user_regs_struct *regs) {
    const struct request request = {.what = STACK, .code = *code, .ranges = ranges, .regs = *regs};
    if (walker->here != NULL)
        return walk_stack(walker->here, code, ranges, regs);
    return ask(walker, &request, WALK_MS);
}
