/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * exec_chain.c - becomes itself again and again, with threads that are interrupted as it does:
 * a signal that is on its way must not meet the next program, which has no handler yet.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "busy.h"

static void *burn(void *unused) {
    (void)unused;
    for (;;)
        busy(100000);
    return NULL;
}

int main(int argc, char **argv) {
    int left = argc > 1 ? atoi(argv[1]) : 100;
    char next[16];
    pthread_t thread;
    busy_ms(3);
    if (left == 0) {
        puts("arrived");
        return 0;
    }
    pthread_create(&thread, NULL, burn, NULL);
    busy_ms(2);
    snprintf(next, sizeof next, "%d", left - 1);
    execl("/proc/self/exe", argv[0], next, (char *)NULL);
    return 1;
}
