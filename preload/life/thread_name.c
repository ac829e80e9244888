/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread_name.c - the caller's name by prctl, that of another thread out of /proc.
 */
#include "preload/life/thread_name.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/life/sys.h"
#include "preload/life/thread.h"

#define BEGINNING "/proc/self/task/"
#define END       "/comm"
#define DIGITS    10

static void make_path(pid_t tid, char path[sizeof BEGINNING + DIGITS + sizeof END]) {
    char digits[DIGITS];
    size_t n = sizeof digits;
    unsigned rest = (unsigned)tid;
    do {
        digits[--n] = (char)('0' + rest % 10);
    } while ((rest /= 10) != 0);
    memcpy(path, BEGINNING, sizeof BEGINNING - 1);
    char *at = path + sizeof BEGINNING - 1;
    memcpy(at, digits + n, sizeof digits - n);
    memcpy(at + sizeof digits - n, END, sizeof END);
}

/* The kernel ends it by a newline; a name may have others. */
static void ask_of_another(pid_t tid, char name[KERNEL_NAME_ROOM]) {
    char path[sizeof BEGINNING + DIGITS + sizeof END];
    make_path(tid, path);
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = sys3(SYS_read, fd, name, KERNEL_NAME_ROOM);
    sys1(SYS_close, fd);
    if (n > 0)
        name[n - 1] = '\0';
}

void thread_ask_name(pid_t tid, char name[KERNEL_NAME_ROOM]) {
    memset(name, 0, KERNEL_NAME_ROOM);
    if (thread_self != NULL && thread_self->tid == tid)
        sys2(SYS_prctl, PR_GET_NAME, name);
    else
        ask_of_another(tid, name);
}
