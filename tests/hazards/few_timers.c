/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * few_timers.c - no timer is to be had: RLIMIT_SIGPENDING is 0 for this user from the start. All
 * works as ever, only nothing is seen.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

static void *burn(void *unused) {
    (void)unused;
    busy_ms(20);
    return NULL;
}

int main(int argc, char **argv) {
    struct rlimit none = {0, 0};
    pthread_t thread[8];
    int started = 0;
    if (argc == 1) {
        setrlimit(RLIMIT_SIGPENDING, &none);
        execl("/proc/self/exe", argv[0], "limited", (char *)NULL);
        return 1;
    }
    for (int i = 0; i < 8; i++)
        started += pthread_create(&thread[i], NULL, burn, NULL) == 0;
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    printf("%d\n", started);
    return 0;
}
