/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * generic_calls.c - system calls that sleep, by a function of the program's own that makes any: its
 * number comes as an argument. None ends before its time, and a wait for a signal ends by one.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

#if defined(__x86_64__)

#define GENERIC __attribute__((noinline))

/* As small C libraries have it. */
GENERIC static long call_six(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

GENERIC static long call_four(int number, long a, long b, long c, long d) {
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

/* The number comes last. */
GENERIC static long call_one(long a, long number) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(0)
                     : "rcx", "r11", "memory");
    return result;
}

/* What calls it does so as the last that it does. */
GENERIC static long nap(const struct timespec *time) {
    return call_four(SYS_nanosleep, (long)(intptr_t)time, 0, 0, 0);
}

#define NAP_MS 30

static struct timespec nap_time(void) {
    return (struct timespec){0, NAP_MS * 1000000};
}

__attribute__((noinline)) static long by_six(void) {
    struct timespec time = nap_time();
    return call_six(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)(intptr_t)&time, 0, 0, 0);
}

__attribute__((noinline)) static long by_four(void) {
    struct timespec time = nap_time();
    return call_four(SYS_nanosleep, (long)(intptr_t)&time, 0, 0, 0);
}

__attribute__((noinline)) static long by_one(void) {
    struct timespec time = nap_time();
    return call_one((long)(intptr_t)&time, SYS_nanosleep);
}

__attribute__((noinline)) static long by_last(void) {
    struct timespec time = nap_time();
    return nap(&time);
}

__attribute__((noinline)) static long by_poll(void) {
    return call_four(SYS_poll, 0, 0, NAP_MS, 0);
}

__attribute__((noinline)) static long by_ppoll(void) {
    struct timespec time = nap_time();
    struct pollfd none = {.fd = -1};
    return call_six(SYS_ppoll, (long)(intptr_t)&none, 1, (long)(intptr_t)&time, 0, 8, 0);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
    (void)number;
    alarms++;
}

/* Once or more: a signal may come before the wait. */
static int wait_for_alarm(int number, long set) {
    const struct itimerval soon = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    alarms = 0;
    setitimer(ITIMER_REAL, &soon, NULL);
    long result = call_four(number, set, 8, 0, 0);
    int came = alarms;
    setitimer(ITIMER_REAL, &never, NULL);
    return result == -EINTR && came > 0;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int ended = 0;                                                                             \
        for (int round = 0; round < 15; round++) {                                                 \
            busy_ms(3);                                                                            \
            ended += call() != 0;                                                                  \
        }                                                                                          \
        printf(#call ": %d ended early\n", ended);                                                 \
    } while (0)

int main(void) {
    uint64_t none = 0;
    int waits = 0;
    signal(SIGALRM, on_alarm);
    TRY(by_six);
    TRY(by_four);
    TRY(by_one);
    TRY(by_last);
    TRY(by_poll);
    TRY(by_ppoll);
    for (int round = 0; round < 5; round++) {
        busy_ms(3);
        waits += wait_for_alarm(SYS_pause, 0);
        busy_ms(3);
        waits += wait_for_alarm(SYS_rt_sigsuspend, (long)(intptr_t)&none);
    }
    printf("%d waits for a signal\n", waits);
    return 0;
}

#else

/* No number is lost there. */
int main(void) {
    busy_ms(50);
    return 0;
}

#endif
