/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * vfork_signals.c - a child that shares its parent's memory sets all signals to their default, and
 * changes its mask, before it executes another program: process starters do so. The parent's own
 * table and masks are as they were.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static volatile sig_atomic_t seen;

static void on_user(int number) {
    (void)number;
    seen++;
}

static int child(void *arg) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none, all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (arg == NULL)
        signal(SIGPROF, SIG_DFL);
    for (int number = 1; arg != NULL && number < NSIG; number++) {
        if (number % 2 == 0)
            signal(number, SIG_DFL);
        else
            sigaction(number, &plain, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl("/bin/true", "true", (char *)NULL);
    _exit(127);
}

static void *work(void *arg) {
    busy_ms(10);
    return arg;
}

int main(void) {
    static char stack[65536] __attribute__((aligned(16)));
    signal(SIGUSR1, on_user);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        busy_ms(5);
        pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                          i % 2 == 0 ? NULL : stack);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            printf("child: status %d\n", status);
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) == 0)
            pthread_join(thread, NULL);
        raise(SIGUSR1);
        struct sigaction now;
        sigaction(SIGPROF, NULL, &now);
        if (now.sa_handler != SIG_DFL)
            printf("SIGPROF is not as it was\n");
    }
    printf("%d signals of its own\n", (int)seen);
    return 0;
}
