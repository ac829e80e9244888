/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * spawn_self.c - posix_spawn(), which copies nothing of the caller's memory.
 */
#include "common/base/spawn_self.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

static int arrange_files(posix_spawn_file_actions_t *actions, int socket) {
    int error = posix_spawn_file_actions_adddup2(actions, socket, SPAWN_SELF_FD);
    for (int fd = 0; fd < SPAWN_SELF_FD && error == 0; fd++)
        error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    return error != 0 ? error
                      : posix_spawn_file_actions_addclosefrom_np(actions, SPAWN_SELF_FD + 1);
}

static void arrange_signals(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

extern char **environ;

/* 0, or what went wrong. */
static int spawn(const char *program, char *const arguments[], pid_t *pid, int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        arrange_signals(&attributes);
        error = arrange_files(&actions, socket);
        if (error == 0)
            error = posix_spawn(pid, program, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

bool spawn_self(const char *program, char *const arguments[], int type, pid_t *pid, int *socket) {
    int ends[2], error;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    /* The child's end must not be where the child opens /dev/null. */
    int child_end = fcntl(ends[1], F_DUPFD_CLOEXEC, SPAWN_SELF_FD + 1);
    error = child_end >= 0 ? spawn(program, arguments, pid, child_end) : errno;
    close(ends[1]);
    if (child_end >= 0)
        close(child_end);
    if (error != 0)
        close(ends[0]);
    *socket = ends[0];
    errno = error;
    return error == 0;
}
