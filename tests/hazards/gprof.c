/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * gprof.c - libc counts by SIGPROF how often the program's parts are met, as it does for programs
 * that are built with -pg: a hundred times a second of CPU time, neither more nor less.
 *
 *   usage: gprof [taken]: SIGPROF is taken by a system call instead, which libc does not see
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "busy.h"

extern char __executable_start, etext;
static unsigned short counts[1 << 16];

static long counted(void) {
    long sum = 0;
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++)
        sum += counts[i];
    return sum;
}

/* The kernel's own struct; it returns by libc's restorer, which is that of any handler. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static void on_prof(int number) {
    (void)number;
}

static long act(int number, const struct kernel_action *action, struct kernel_action *old) {
    return syscall(SYS_rt_sigaction, number, action, old, 8);
}

static void take_by_system_call(void) {
    struct kernel_action action = {0}, now = {0};
    signal(SIGUSR1, on_prof);
    act(SIGUSR1, NULL, &action);
    act(SIGPROF, &action, NULL);
    for (int i = 0; i < 100; i++) {
        busy_ms(2);
        if (write(STDERR_FILENO, "", 0) != 0)
            abort();
    }
    act(SIGPROF, NULL, &now);
    puts(now.handler == on_prof ? "SIGPROF is ours" : "SIGPROF is lost");
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "taken") == 0) {
        take_by_system_call();
        return 0;
    }
    unsigned short *volatile none = NULL; /* declared as if it could not be */
    profil(counts, sizeof counts, (size_t)&__executable_start, 65536);
    busy_ms(500);
    profil(none, 0, 0, 0);
    long n = counted();
    printf("%s\n", n < 10 ? "too few" : n > 65 ? "too many" : "as many as there should be");
    busy_ms(20);
    return 0;
}
