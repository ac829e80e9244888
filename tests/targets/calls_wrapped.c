/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_wrapped.c - calls functions of libc that an agent may stand before, each in its own number.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READS   30
#define ACTIONS 20
#define THREADS 10

static void *nothing(void *arg) {
    return arg;
}

int main(void) {
    char byte;
    int ends[2];
    struct sigaction action;
    pthread_t thread;
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < READS; i++)
        if (write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
            return 1;
    for (int i = 0; i < ACTIONS; i++)
        sigaction(SIGUSR1, NULL, &action);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    printf("done\n");
    return 0;
}
