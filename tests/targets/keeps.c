/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * keeps.c - keeps blocks so large that each is surely sampled, in itself and in children that it
 * forks one after the other: `keeps BLOCKS BYTES CHILDREN`. Each child keeps one more, and ends.
 * The memory is never touched. With another word it waits on stdin before it ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One for each function, or the compiler may make one function of two. */
static void *volatile kept, *volatile kept_in_child;

__attribute__((noinline)) static void keep_in_parent(size_t bytes) {
    kept = malloc(bytes);
}

__attribute__((noinline)) static void keep_in_child(size_t bytes) {
    kept_in_child = malloc(bytes);
}

static void run_child(size_t bytes) {
    pid_t child = fork();
    if (child == 0) {
        keep_in_child(bytes);
        _exit(kept_in_child == NULL);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    size_t bytes = strtoull(argv[2], NULL, 10);
    for (long i = atol(argv[1]); i > 0; i--)
        keep_in_parent(bytes);
    for (long i = atol(argv[3]); i > 0; i--)
        run_child(bytes);
    if (argc > 4) {
        char byte;
        (void)!write(STDOUT_FILENO, "\n", 1);
        (void)!read(STDIN_FILENO, &byte, 1);
    }
    return 0;
}
