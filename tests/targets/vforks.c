/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * vforks.c - has children by vfork that end at once, until it has used CPU time for 0.5 s.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void have_a_child(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

int main(void) {
    while (clock() < CLOCKS_PER_SEC / 2)
        have_a_child();
    return 0;
}
