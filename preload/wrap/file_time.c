/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * file_time.c - getsockopt, and the settings of a terminal.
 */
#include "preload/wrap/file_time.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "preload/life/sys.h"

#define SECOND_NS 1000000000ull

uint64_t file_time_socket(int fd, int option) {
    struct timeval timeout = {0, 0};
    socklen_t length = sizeof timeout;
    if (sys5(SYS_getsockopt, fd, SOL_SOCKET, option, &timeout, &length) != 0)
        return 0;
    return (uint64_t)timeout.tv_sec * SECOND_NS + (uint64_t)timeout.tv_usec * 1000;
}

/* As the kernel has it; libc's is another one. */
struct kernel_termios {
    uint32_t flags[3], local; /* c_iflag, c_oflag, c_cflag, c_lflag */
    uint8_t line, cc[19];
};
#define KERNEL_TCGETS   0x5401
#define KERNEL_TIOCGPKT 0x80045438 /* _IOR('T', 0x38, int): none but masters answer */
#define KERNEL_ICANON   2u
#define KERNEL_VTIME    5
#define KERNEL_VMIN     6
#define TENTH_NS        100000000ull

uint64_t file_time_terminal(int fd) {
    struct kernel_termios t;
    struct stat file;
    int packets;
    if (sys2(SYS_fstat, fd, &file) != 0 || !S_ISCHR(file.st_mode) ||
        sys3(SYS_ioctl, fd, KERNEL_TCGETS, &t) != 0 || (t.local & KERNEL_ICANON) != 0 ||
        t.cc[KERNEL_VMIN] != 0 || sys3(SYS_ioctl, fd, KERNEL_TIOCGPKT, &packets) == 0)
        return 0;
    return t.cc[KERNEL_VTIME] * TENTH_NS;
}
