/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restarts.c - a reader that waits for what a slow writer sends while other threads are busy: each
 * read ends in time, however often it is interrupted and made again.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "busy.h"

static int ends[2];

static void *write_slowly(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        usleep(2000);
        if (write(ends[1], &i, sizeof i) != sizeof i)
            return NULL;
    }
    close(ends[1]);
    return NULL;
}

int main(void) {
    pthread_t writer;
    long sum = 0;
    int value, errors = 0;
    ssize_t n;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&writer, NULL, write_slowly, NULL);
    while ((n = read(ends[0], &value, sizeof value)) != 0) {
        errors += n < 0;
        sum += n > 0 ? value : 0;
        busy(100000);
    }
    pthread_join(writer, NULL);
    printf("%ld %d\n", sum, errors);
    return 0;
}
