/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inherits.c - a thread computes while another one forks, time and again; a child has no descriptor
 * that its parent did not have at the beginning.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 400

static void *work(void *arg) {
    volatile unsigned long sink = 0;
    clock_t end = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < end)
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
    return arg;
}

static int descriptors(void) {
    int n = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        n++;
    closedir(directory);
    return n;
}

int main(void) {
    const struct timespec nap = {0, 100000};
    int before = descriptors(), bad = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    for (int i = 0; i < CHILDREN; i++) {
        int status = 1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(descriptors() != before);
        bad += waitpid(pid, &status, 0) != pid || status != 0;
        nanosleep(&nap, NULL);
    }
    pthread_join(thread, NULL);
    printf("%d of %d children have more descriptors\n", bad, CHILDREN);
    return 0;
}
