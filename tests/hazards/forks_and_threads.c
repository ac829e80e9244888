/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * forks_and_threads.c - children of fork that compute and have threads, beside a thread of the
 * parent. It also reports its calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static void *work(void *argument) {
    busy_ms(30);
    return argument;
}

static void child(void) {
    pthread_t thread;
    busy_ms(30);
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
        exit(2);
    exit(0);
}

int main(void) {
    pthread_t thread;
    busy_ms(30);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            child();
        waitpid(pid, &status, 0);
        puts(status == 0 ? "as it should" : "failed");
        fflush(stdout);
    }
    pthread_join(thread, NULL);
    return 0;
}
