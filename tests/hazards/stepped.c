/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stepped.c - a debugger steps a child from instruction to instruction, as gdb does for a
 * watchpoint in software: signals are handed on, and their handlers are stepped as well.
 *
 *   usage: stepped [LOOPS]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hazards/busy.h"

#define LOOPS 1000

static int stepped(int loops) {
    volatile int sum = 0;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    for (int i = 0; i < loops; i++)
        sum = (sum + i) % 1009;
    return sum % 100;
}

int main(int argc, char **argv) {
    int status = 0, number = 0;
    busy_ms(30);
    pid_t child = fork();
    if (child == 0)
        _exit(stepped(argc > 1 ? atoi(argv[1]) : LOOPS));
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        printf("it can't be stepped here\n");
        return 0;
    }
    while (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)number) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    printf("%s with %d\n", WIFEXITED(status) ? "it ended" : "it was killed",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}
