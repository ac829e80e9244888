/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_timer.c - a thread has to wait for a processor for long, where it makes a timer; meanwhile
 * another takes SIGPROF for itself, and gives it back. The wait is a tracer's: it holds the thread
 * where it asks the kernel for a timer.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

#define HELD_US  400000
#define TAKES_US 100000
#define NAP_US   200

static void *work(void *arg) {
    busy(100000000);
    return arg;
}

static void program(void) {
    pthread_t id;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        raise(SIGSTOP);
    busy(20000000);
    if (pthread_create(&id, NULL, work, NULL) != 0)
        _exit(2);
    usleep(TAKES_US);
    signal(SIGPROF, SIG_IGN);
    signal(SIGPROF, SIG_DFL);
    pthread_join(id, NULL);
    _exit(0);
}

static int asks_for_timer(pid_t tid) {
#if defined(__x86_64__)
    return ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.orig_rax), NULL) ==
           SYS_timer_create;
#else
    (void)tid;
    return 0;
#endif
}

static pid_t held;
static int naps;

static void nap(void) {
    usleep(NAP_US);
    if (held != 0 && ++naps == HELD_US / NAP_US)
        ptrace(PTRACE_DETACH, held, NULL, NULL);
}

/* The signal that a stop of `tid` is about, if it is to be delivered. */
static int signal_of(pid_t tid, int status) {
    int stop = WSTOPSIG(status);
    siginfo_t info;
    if (status >> 16 != 0 || stop == (SIGTRAP | 0x80))
        return 0;
    if (stop == SIGSTOP && ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0)
        return 0; /* of a thread that begins */
    return stop;
}

static int trace(pid_t pid) {
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return status;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid == pid && !WIFSTOPPED(status))
            return status;
        if (tid < 0)
            return -1;
        if (tid == 0)
            nap();
        else if (held == 0 && tid != pid && WSTOPSIG(status) == (SIGTRAP | 0x80) &&
                 asks_for_timer(tid))
            held = tid;
        else if (WIFSTOPPED(status))
            ptrace(tid == pid ? PTRACE_CONT : PTRACE_SYSCALL, tid, NULL,
                   (void *)(long)signal_of(tid, status));
    }
}

int main(void) {
    pid_t pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0)
        program();
    int status = trace(pid);
    if (status != 0)
        printf("status %x\n", (unsigned)status);
    return status != 0;
}
