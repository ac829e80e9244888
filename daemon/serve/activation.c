/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * activation.c - the protocol of sd_listen_fds(3), which is two variables and a number.
 */
#include "daemon/serve/activation.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3  /* as the protocol has it */
#define KEEP_AT  10 /* from where on: descriptor 3 is where worker children find their socket */

static long number_in(const char *variable) {
    const char *text = getenv(variable);
    char *end;
    long n = text != NULL ? strtol(text, &end, 10) : 0;
    return text != NULL && text[0] != '\0' && *end == '\0' ? n : 0;
}

static bool is_option(int fd, int option, int want) {
    int value;
    socklen_t length = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 && value == want;
}

static bool is_ours(int fd) {
    return is_option(fd, SO_DOMAIN, AF_UNIX) && is_option(fd, SO_TYPE, SOCK_STREAM) &&
           is_option(fd, SO_ACCEPTCONN, 1);
}

static void path_of(int fd, char *path, size_t bytes) {
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    getsockname(fd, (struct sockaddr *)&address, &length);
    snprintf(path, bytes, "%.*s", (int)sizeof address.sun_path, address.sun_path);
}

bool activation_take(int *fd, char *path, size_t path_bytes, char *error, size_t error_bytes) {
    long n = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    *fd = -1;
    if (n <= 0)
        return true;
    if (n != 1 || !is_ours(FIRST_FD)) {
        snprintf(error, error_bytes,
                 "the service manager passed %ld descriptors, but hcctd takes one listening Unix "
                 "stream socket: give the socket unit one ListenStream=, a path",
                 n);
        return false;
    }
    path_of(FIRST_FD, path, path_bytes);
    *fd = fcntl(FIRST_FD, F_DUPFD_CLOEXEC, KEEP_AT);
    close(FIRST_FD);
    if (*fd >= 0 && fcntl(*fd, F_SETFL, O_NONBLOCK) == 0)
        return true;
    snprintf(error, error_bytes, "the service manager's socket can't be kept: no descriptors");
    return false;
}
