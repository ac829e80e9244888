/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * close_all.c - closes every descriptor again and again, as daemons do, opens some, and looks
 * whether the numbers are those that it must get; then lists what a child inherits.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static int child_descriptors(void) {
    int n = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        n++;
    return n;
}

int main(int argc, char **argv) {
    int right = 0, status = 0;
    if (argc > 1)
        return child_descriptors();
    for (int i = 0; i < 100; i++) {
        close_range(3, ~0u, 0);
        busy_ms(2);
        int a = open("/dev/null", O_RDONLY), b = dup(a);
        busy_ms(1);
        right += a == 3 && b == 4 && close_range(3, ~0u, 0) == 0;
    }
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "child", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", right, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
