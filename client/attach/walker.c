/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walker.c - one request after the other, over a pair of sockets.
 */
#include "client/attach/walker.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WALK_MS      20   /* a thread stands still meanwhile */
#define READ_MS      2000 /* for files */
#define CPU_SECONDS  30
#define MEMORY_BYTES (1ull << 30)

struct walker {
    struct walk *here; /* NULL: there is a helper */
    pid_t helper;
    int socket; /* -1: it is late, or gone */
};

enum what { PREPARE, STACK, LEARN };

struct request {
    enum what what;
    struct code code;
    size_t ranges;
    struct user_regs_struct regs;
};

/* ---- the helper ---- */

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

/* The memory is open already, which that user might not be able to do. */
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
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct walk *walk = give_rights_up(user) ? walk_new(&target) : NULL;
    while (walk != NULL && read(socket, &request, sizeof request) == (ssize_t)sizeof request) {
        enum walked walked = serve(walk, &target, &request);
        if (write(socket, &walked, sizeof walked) != (ssize_t)sizeof walked)
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

static bool start_helper(struct walker *walker, const struct target *target,
                         const struct stat *user) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    walker->helper = fork();
    if (walker->helper == 0)
        help(*target, user, ends[1]);
    close(ends[1]);
    walker->socket = ends[0];
    return walker->helper > 0;
}

struct walker *walker_new(const struct target *target) {
    struct walker *walker = calloc(1, sizeof *walker);
    struct stat user;
    if (walker == NULL)
        return NULL;
    walker->socket = -1;
    bool can = is_others(target, &user) ? start_helper(walker, target, &user)
                                        : (walker->here = walk_new(target)) != NULL;
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

static enum walked ask(struct walker *walker, const struct request *request, int ms) {
    enum walked walked = WALKED_LOCKED;
    if (walker->socket >= 0 &&
        send(walker->socket, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request &&
        comes(walker->socket, ms) &&
        read(walker->socket, &walked, sizeof walked) == (ssize_t)sizeof walked)
        return walked;
    give_helper_up(walker);
    return WALKED_LOCKED;
}

void walker_prepare(struct walker *walker) {
    const struct request request = {.what = PREPARE};
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
