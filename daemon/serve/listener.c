/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * listener.c - whose socket file is it? A lock beside it (PATH.lock, held as long as the daemon
 * lives) tells a running daemon from what a dead one left behind, without a race between two that
 * start at the same time.
 */
#include "daemon/serve/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/wire/paths.h"

#define BACKLOG 256

static int lock_fd = -1;
static int adopted_fd = -1; /* whose path and lock are not ours */

static bool make_directory_of(const char *path) {
    char directory[PATHS_SOCKET_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return true;
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    return mkdir(directory, 0700) == 0 || errno == EEXIST;
}

static bool take_lock(const char *path, char *error, size_t bytes) {
    char lock[PATHS_SOCKET_MAX + 8];
    snprintf(lock, sizeof lock, "%s.lock", path);
    lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_fd < 0) {
        snprintf(error, bytes, "can't make %s: %s; choose another place with --socket PATH", lock,
                 strerror(errno));
        return false;
    }
    if (flock(lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    snprintf(
        error, bytes,
        "another hcctd listens at %s already: use it, stop it, or choose another --socket PATH",
        path);
    close(lock_fd);
    lock_fd = -1;
    return false;
}

/* With the lock in hand, a socket that is there belongs to nobody. */
static bool clear_path(const char *path, char *error, size_t bytes) {
    struct stat st;
    if (lstat(path, &st) != 0 || (S_ISSOCK(st.st_mode) && unlink(path) == 0))
        return true;
    snprintf(error, bytes,
             S_ISSOCK(st.st_mode)
                 ? "can't remove the stale socket %s: choose another place with --socket PATH"
                 : "%s exists and is no socket: choose another place with --socket PATH",
             path);
    return false;
}

static int listen_at(const char *path, char *error, size_t bytes) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t old = umask(0177);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(old);
    if (bound && listen(fd, BACKLOG) == 0)
        return fd;
    snprintf(error, bytes, "can't listen at %s: %s; choose another place with --socket PATH", path,
             strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int listener_open(const char *path, char *error, size_t bytes) {
    if (strlen(path) >= PATHS_SOCKET_MAX) {
        snprintf(error, bytes,
                 "the socket path has %zu bytes, but at most %d are possible: choose a shorter one "
                 "with --socket PATH or HCCT_SOCKET",
                 strlen(path), PATHS_SOCKET_MAX - 1);
        return -1;
    }
    if (!make_directory_of(path)) {
        snprintf(error, bytes,
                 "can't make the directory of %s: %s; choose another place with --socket PATH",
                 path, strerror(errno));
        return -1;
    }
    if (!take_lock(path, error, bytes) || !clear_path(path, error, bytes))
        return -1;
    return listen_at(path, error, bytes);
}

/* Agents see who has called listen() last, and do not wait for one that is stopped. */
void listener_adopt(int fd) {
    listen(fd, BACKLOG);
    adopted_fd = fd;
}

void listener_close(int fd, const char *path) {
    char lock[PATHS_SOCKET_MAX + 8];
    if (fd == adopted_fd) {
        close(fd);
        return;
    }
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(path);
    unlink(lock);
    close(fd);
    close(lock_fd);
}
