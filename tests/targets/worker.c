/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * worker.c - a server of root's that works, and then starts a child that takes the rights of
 * another user first of all, and works as that one.
 *
 *   usage: worker MILLISECONDS_OF_CPU
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OTHER 65534

static void work(long ms) {
    volatile unsigned long sink = 0;
    clock_t end = clock() + ms * CLOCKS_PER_SEC / 1000;
    while (clock() < end)
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
}

int main(int argc, char **argv) {
    int status = 1;
    work(50);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(OTHER) != 0 || setuid(OTHER) != 0)
            _exit(2);
        work(argc > 1 ? atol(argv[1]) : 100);
        _exit(0);
    }
    printf("%d\n", (int)pid);
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}
