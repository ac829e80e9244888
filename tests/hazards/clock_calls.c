/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clock_calls.c - does little but ask for the time, through the code that the kernel maps (vdso),
 * and through procedure linkage: prologues and epilogues, and code without a file.
 */
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static long ask(int n) {
    long backwards = 0;
    struct timespec last = {0}, now;
    struct timeval day;
    for (int i = 0; i < n; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        gettimeofday(&day, NULL);
        backwards +=
            now.tv_sec < last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec);
        last = now;
        backwards += time(NULL) < 1000000;
    }
    return backwards;
}

int main(void) {
    printf("%ld\n", ask(4000000));
    return 0;
}
