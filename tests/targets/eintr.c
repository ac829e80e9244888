/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eintr.c - naps by system calls of its own, whose number nobody can tell any more once it sleeps:
 * it comes from memory that has another one by then, through a pointer.
 *
 *   eintr NAPS
 *
 * Prints how many ended with EINTR.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#define NAP_NS  30000000
#define WORK_NS 3000000

__attribute__((noinline)) static long call(long number, long a, long b) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x8 __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
    return x0;
#endif
}

static long (*volatile pointer)(long, long, long) = call;
static volatile long number;

static long take_number(void) {
    long taken = number;
    number = 0;
    return taken;
}

static void work(void) {
    struct timespec began, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - began.tv_sec) * 1000000000l + now.tv_nsec - began.tv_nsec < WORK_NS);
}

int main(int argc, char **argv) {
    int naps = argc > 1 ? atoi(argv[1]) : 20, ended = 0;
    for (int i = 0; i < naps; i++) {
        struct timespec time = {0, NAP_NS};
        work();
        number = SYS_nanosleep;
        ended += pointer(take_number(), (long)&time, 0) == -EINTR;
    }
    printf("%d\n", ended);
    return 0;
}
