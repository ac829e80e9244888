/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tracee.c - a program that is executed step by step.
 */
#include "tests/step/tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/step/registers.h"

/* 0: not to be had. */
static uint64_t entry_of(pid_t pid) {
    char name[64];
    Elf64_auxv_t word;
    uint64_t entry = 0;
    snprintf(name, sizeof name, "/proc/%d/auxv", (int)pid);
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return 0;
    while (entry == 0 && fread(&word, sizeof word, 1, file) == 1)
        if (word.a_type == AT_ENTRY)
            entry = word.a_un.a_val;
    fclose(file);
    return entry;
}

/* The child's way: why it failed goes to the parent as its exit status. */
static void become(char *const argv[]) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
        execv(argv[0], argv);
    _exit(errno);
}

pid_t tracee_start(char *const argv[]) {
    int status;
    pid_t pid = fork();
    if (pid == 0)
        become(argv);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    if (WIFEXITED(status)) {
        errno = WEXITSTATUS(status);
        return -1;
    }
    if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) == 0 &&
        registers_run_to(pid, entry_of(pid)))
        return pid;
    int why = errno;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    errno = why;
    return -1;
}
