/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ends.c - children that fork children, one after another. All end by a call that is the last
 * instruction of its function: where it would return to is another function, or none.
 *
 *   ends CHILDREN GRANDCHILDREN
 *
 * Prints the line of that call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY (8u << 20) /* the kernel takes a ms to give it back */

static const int line_of_call = __LINE__ + 4;

/* The compiler makes no jump of it, so that a debugger can tell who has ended the process. */
__attribute__((noinline)) static _Noreturn void leave(void) {
    _exit(0);
}

static void spawn(int children, int grandchildren) {
    for (int i = 0; i < children; i++) {
        pid_t child = fork();
        if (child == 0) {
            spawn(grandchildren, 0);
            leave();
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            exit(1);
    }
}

int main(int argc, char **argv) {
    char *memory = malloc(MEMORY);
    if (argc != 3 || memory == NULL)
        return 2;
    memset(memory, argc, MEMORY);
    spawn(atoi(argv[1]), atoi(argv[2]));
    printf("%d\n", line_of_call);
    free(memory);
    return 0;
}
