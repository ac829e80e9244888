/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * big_fork.c - a process of half a gigabyte forks while its threads are interrupted as often as can
 * be: copying page tables takes longer than the time between two signals.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

#define BYTES ((size_t)512 << 20)

static void *burn(void *unused) {
    (void)unused;
    for (;;)
        busy(1000000);
    return NULL;
}

int main(void) {
    /* at once: page after page they take longer than all that comes after it */
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    pthread_t thread;
    int good = 0;
    if (memory == MAP_FAILED)
        return 1;
    for (int i = 0; i < 20; i++)
        memory[(size_t)i << 20] = 1;
    pthread_create(&thread, NULL, burn, NULL);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        busy_ms(5);
        pid_t child = fork();
        if (child == 0)
            _exit(memory[(size_t)i << 20] + i);
        good += child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == i + 1;
    }
    printf("%d\n", good);
    return 0;
}
