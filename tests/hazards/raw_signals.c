/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * raw_signals.c - a child of fork sets all signals to their default by system calls, past libc's
 * functions, before it executes another program: chromium's process starter does so.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

#define CHILDREN 40

struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static long change(int number, const struct kernel_action *action, struct kernel_action *old) {
    return syscall(SYS_rt_sigaction, number, action, old, sizeof old->mask);
}

/* As it is without a profiler. */
static int all_are_default(void) {
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct kernel_action now = {0};
        if (change(number, NULL, &now) != 0 || now.handler != SIG_DFL)
            return 0;
    }
    return 1;
}

static void child(void) {
    const struct kernel_action plain = {0};
    const struct timespec while_asleep = {0, 4000000};
    for (int number = 1; number <= SIGRTMAX; number++)
        change(number, &plain, NULL);
    busy_ms(4);
    nanosleep(&while_asleep, NULL);
    if (!all_are_default())
        _exit(1);
    execl("/bin/true", "true", (char *)NULL);
    _exit(127);
}

int main(void) {
    int good = 0;
    busy_ms(20);
    if (!all_are_default())
        printf("a signal is not as it was\n");
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            child();
        good += pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
        busy_ms(2);
    }
    printf("%d of %d children\n", good, CHILDREN);
    return 0;
}
