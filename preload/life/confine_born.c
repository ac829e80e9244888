/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confine_born.c - a program that was executed by a confined process.
 *
 * The filter of a container refuses some calls and allows what the agent needs, or answers with an
 * error where it does not; that of a sandbox kills. What it does can't be read, so a child tries
 * every call that the agent makes, with arguments that lead to nothing, before the process does.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "preload/life/confine.h"
#include "preload/life/sys.h"

#define STATUS_PART 512 /* a large one would be a page of the stack more to have */
#define LINE        "\nSeccomp:\t"
#define NOBODY      (-1) /* no such descriptor, timer or process */

/* What stands behind LINE, whose first `*matched` bytes the text before has had; '\0': it has not
 * come yet. */
static char behind_line(const char *text, size_t length, size_t *matched) {
    for (size_t i = 0; i < length; i++) {
        if (*matched == strlen(LINE))
            return text[i];
        if (text[i] == LINE[*matched])
            ++*matched;
        else
            *matched = text[i] == LINE[0];
    }
    return '\0';
}

/* Without files of processes (no /proc) it is taken for free. */
static bool has_filter(void) {
    char text[STATUS_PART], mode = '\0';
    size_t matched = 0;
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0), got;
    if (fd < 0)
        return false;
    while (mode == '\0' && (got = sys3(SYS_read, fd, text, sizeof text)) > 0)
        mode = behind_line(text, (size_t)got, &matched);
    sys1(SYS_close, fd);
    return mode != '\0' && mode != '0';
}

/* In the child. Errors are as good as success: the process copes with them. */
static void try_calls(void) {
    char room[256];
    const struct timespec zero = {0, 0};
    sys2(SYS_prctl, PR_SET_DUMPABLE, 0); /* no core file of it */
    sys0(SYS_getpid);
    sys0(SYS_gettid);
    sys3(SYS_timer_create, NOBODY, NULL, room);
    sys4(SYS_timer_settime, NOBODY, 0, NULL, NULL);
    sys1(SYS_timer_delete, NOBODY);
    sys2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, room);
    sys2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, room);
    sys2(SYS_getrusage, RUSAGE_THREAD, room);
    sys2(SYS_getrlimit, RLIMIT_NOFILE, room);
    sys4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, room);
    sys4(SYS_rt_sigaction, NOBODY, NULL, NULL, KERNEL_SIGSET_BYTES);
    sys4(SYS_rt_sigprocmask, 0, NULL, room, KERNEL_SIGSET_BYTES);
    sys6(SYS_process_vm_readv, NOBODY, NULL, 0, NULL, 0, 0);
    sys2(SYS_rt_sigpending, room, KERNEL_SIGSET_BYTES);
    sys4(SYS_rt_sigtimedwait, room, NULL, &zero, KERNEL_SIGSET_BYTES);
    sys2(SYS_sigaltstack, NULL, NULL);
    sys3(SYS_tgkill, NOBODY, NOBODY, 0);
    sys2(SYS_nanosleep, &zero, NULL);
    sys4(SYS_futex, room, FUTEX_WAKE, 1, NULL);
    long at =
        sys6(SYS_mmap, 0, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sys3(SYS_madvise, at, WIRE_PAGE, MADV_DONTFORK);
    sys4(SYS_mremap, at, WIRE_PAGE, WIRE_PAGE, MREMAP_MAYMOVE);
    sys3(SYS_mprotect, at, WIRE_PAGE, PROT_NONE);
    sys2(SYS_munlock, at, WIRE_PAGE);
    sys2(SYS_munmap, at, WIRE_PAGE);
    long fd = sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sys3(SYS_connect, NOBODY, NULL, 0);
    sys6(SYS_sendto, NOBODY, room, 0, MSG_NOSIGNAL, 0, 0);
    sys5(SYS_ppoll, NULL, 0, &zero, NULL, 0);
    sys3(SYS_recvmsg, NOBODY, NULL, MSG_CMSG_CLOEXEC);
    sys5(SYS_getsockopt, NOBODY, SOL_SOCKET, SO_RCVTIMEO, NULL, NULL);
    sys2(SYS_fstat, NOBODY, NULL);
    sys1(SYS_close, fd);
    sys2(SYS_prctl, PR_GET_NAME, room);
    sys4(SYS_wait4, NOBODY, NULL, WNOHANG, NULL);
}

/* It has no signal for its parent, so the application never hears of it. */
static bool child_survives(void) {
    int status = -1;
    long pid = sys5(SYS_clone, CLONE_VFORK, 0, 0, 0, 0);
    if (pid == 0) {
        try_calls();
        for (;;)
            sys1(SYS_exit_group, 0);
    }
    if (pid < 0)
        return false;
    sys4(SYS_wait4, pid, &status, __WCLONE, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool confine_was_born(void) {
    return has_filter() && !child_survives();
}
