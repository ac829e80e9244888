/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * all_timers.c - a program that needs all timers that its user may have (RLIMIT_SIGPENDING), for a
 * user who has no others.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

#define NOBODY_ELSE 54321 /* a user id; who may not be another user goes on as who they are */
#define TIMERS      12

int main(int argc, char **argv) {
    const struct rlimit limit = {TIMERS, TIMERS};
    struct sigevent event;
    timer_t timer;
    int made = 0;
    if (argc == 1) {
        if (setgid(NOBODY_ELSE) != 0 || setuid(NOBODY_ELSE) != 0 ||
            setrlimit(RLIMIT_SIGPENDING, &limit) != 0) {
            puts("not tried");
            return 0;
        }
        execl("/proc/self/exe", argv[0], "limited", (char *)NULL);
        return 1;
    }
    busy_ms(60);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_NONE;
    while (made < 2 * TIMERS && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        made++;
    busy_ms(20);
    printf("%d timers\n", made);
    return 0;
}
