/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dispatched.c - a thread has its system calls sent to itself, as Wine has those of Windows
 * programs: each that is made while a byte says so is a SIGSYS. Whoever makes one while that is
 * blocked is ended.
 *
 *   usage: dispatched prctl|syscall
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "busy.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#endif

static volatile char selector;
static volatile int seen;
static volatile double sum;

static void on_sigsys(int number) {
    (void)number;
    selector = 0;
    seen++;
}

static int dispatch(const char *how) {
    if (strcmp(how, "syscall") == 0)
        return (int)syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
                            &selector);
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);
}

int main(int argc, char **argv) {
    busy_ms(30);
    signal(SIGSYS, on_sigsys);
    if (argc != 2 || dispatch(argv[1]) != 0) {
        puts("this kernel has none of it");
        return 0;
    }
    for (int i = 0; i < 20; i++) {
        selector = 1;
        for (long k = 0; k < 2000000; k++)
            sum += (double)k;
        selector = 0;
    }
    printf("%d system calls were not the program's\n", seen);
    return seen != 0;
}
