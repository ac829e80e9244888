/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_profiling.c - a program that profiles itself with SIGPROF and an interval timer, changes its
 * handler, and asks what it had set. Its own ticks must come, and only its own.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "busy.h"

static volatile sig_atomic_t ticks, others;

static void on_tick(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    if (info->si_code == SI_KERNEL)
        ticks++;
    else
        others++;
}

int main(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART}, before, after;
    struct itimerval every = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
    action.sa_sigaction = on_tick;
    busy_ms(30);
    sigaction(SIGPROF, &action, &before);
    setitimer(ITIMER_PROF, &every, NULL);
    busy_ms(300);
    setitimer(ITIMER_PROF, &off, NULL);
    sigaction(SIGPROF, NULL, &after);
    printf("before %s, mine %s, ticks %s, others %d\n",
           before.sa_handler == SIG_DFL ? "default" : "set",
           after.sa_sigaction == on_tick ? "kept" : "lost",
           ticks >= 20 && ticks <= 40 ? "as asked" : "wrong", (int)others);
    return 0;
}
