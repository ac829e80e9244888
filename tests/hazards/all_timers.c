/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * all_timers.c - a program that needs all timers that its user may have (RLIMIT_SIGPENDING), for a
 * user who has no others. What is preloaded is copied for it, as it may not see the directory.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

#define NOBODY_ELSE 54321 /* a user id; who may not be another user does not try */
#define TIMERS      12

/* The path of a copy that everybody may read; NULL: there is nothing to be copied. */
static char *copy_preloaded(void) {
    static char path[] = "/tmp/hcct-all-timers-XXXXXX";
    const char *preloaded = getenv("LD_PRELOAD");
    int from = preloaded != NULL ? open(preloaded, O_RDONLY | O_CLOEXEC) : -1;
    int to = from >= 0 ? mkstemp(path) : -1;
    if (to < 0)
        return NULL;
    while (sendfile(to, from, NULL, 1 << 20) > 0)
        ;
    fchmod(to, 0755);
    close(to);
    close(from);
    setenv("LD_PRELOAD", path, 1);
    return path;
}

static int become_and_execute(const char *name) {
    const struct rlimit limit = {TIMERS, TIMERS};
    if (setgid(NOBODY_ELSE) != 0 || setuid(NOBODY_ELSE) != 0 ||
        setrlimit(RLIMIT_SIGPENDING, &limit) != 0) {
        puts("not tried");
        return 0;
    }
    execl("/proc/self/exe", name, "limited", (char *)NULL);
    return 1;
}

static int take_all(void) {
    struct sigevent event;
    timer_t timer;
    int made = 0;
    busy_ms(60);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_NONE;
    while (made < 2 * TIMERS && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        made++;
    busy_ms(20);
    printf("%d timers\n", made);
    return 0;
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc > 1)
        return take_all();
    busy_ms(20);
    char *copy = copy_preloaded();
    pid_t child = fork();
    if (child == 0)
        return become_and_execute(argv[0]);
    if (waitpid(child, &status, 0) != child)
        status = 1;
    if (copy != NULL)
        unlink(copy);
    return status != 0;
}
