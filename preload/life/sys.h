/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sys.h - system calls without libc: no errno, no cancellation point, nothing that another library
 * may have replaced. Any context. Each returns the kernel's answer: -errno on failure.
 */
#ifndef HCCT_SYS_H
#define HCCT_SYS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)

static inline long sys_call(long n, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long sys_call(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#error "the agent knows no system call convention for this machine"
#endif

#define SYS_ARG(x)          ((long)(x))
#define sys0(n)             sys_call(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a)          sys_call(n, SYS_ARG(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b)       sys_call(n, SYS_ARG(a), SYS_ARG(b), 0, 0, 0, 0)
#define sys3(n, a, b, c)    sys_call(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys_call(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)
#define sys5(n, a, b, c, d, e)                                                                     \
    sys_call(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), 0)
#define sys6(n, a, b, c, d, e, f)                                                                  \
    sys_call(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), SYS_ARG(f))

#define KERNEL_SIGSET_BYTES 8 /* the kernel's signal set, not libc's */

/* Sleeps for less than a second. A thread that is held while it runs a function of ours (late.h)
 * may have a sleep of its own to go on with, of which the kernel knows the rest: nanosleep would
 * make it forget that. Any context. */
static inline void sys_nap(long ns) {
    struct timespec time = {0, ns};
    sys5(SYS_ppoll, 0, 0, &time, 0, KERNEL_SIGSET_BYTES);
}

/* The kernel's words of an action: the handler comes first, then the flags. */
enum { SYS_ACTION_HANDLER, SYS_ACTION_FLAGS, SYS_ACTION_WORDS = 4 };

/* What the kernel has for a signal; all 0 where there is no such signal. */
static inline void sys_action(int number, uintptr_t action[SYS_ACTION_WORDS]) {
    for (int i = 0; i < SYS_ACTION_WORDS; i++)
        action[i] = 0;
    sys4(SYS_rt_sigaction, number, 0, action, KERNEL_SIGSET_BYTES);
}

/* The handler that the kernel has for a signal, or SIG_DFL (where there is no such signal, too) or
 * SIG_IGN, as a number. A sanitizer's wrapper of sigaction may tell of another one. */
static inline uintptr_t sys_handler(int number) {
    uintptr_t action[SYS_ACTION_WORDS];
    sys_action(number, action);
    return action[SYS_ACTION_HANDLER];
}

#endif
