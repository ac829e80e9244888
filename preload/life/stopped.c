/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stopped.c - the kernel knows who listens (SO_PEERCRED), and what that process does (/proc): so no
 * process has to leave word for the next one.
 */
#include "preload/life/stopped.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "preload/life/sys.h"

#define PATH_ROOM 32 /* of "/proc/4294967295/stat" */
#define STAT_ROOM 64 /* "PID (NAME) STATE ...", a name has 15 bytes at most */

static void make_path(unsigned pid, char path[PATH_ROOM]) {
    char digits[12];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + pid % 10);
    } while ((pid /= 10) != 0);
    memset(path, 0, PATH_ROOM);
    memcpy(path, "/proc/", 6);
    memcpy(path + 6, digits + n, sizeof digits - n);
    memcpy(path + 6 + sizeof digits - n, "/stat", 5);
}

/* '\0': not known. */
static char state_of(unsigned pid) {
    char path[PATH_ROOM], text[STAT_ROOM];
    make_path(pid, path);
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return '\0';
    long n = sys3(SYS_read, fd, text, sizeof text);
    sys1(SYS_close, fd);
    while (n > 0 && text[n - 1] != ')')
        n--;
    return n > 0 && n + 1 < STAT_ROOM ? text[n + 1] : '\0';
}

bool stopped_is_peer(int fd) {
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    if (sys5(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0)
        return false;
    char state = state_of((unsigned)peer.pid);
    return state == 'T' || state == 't';
}
