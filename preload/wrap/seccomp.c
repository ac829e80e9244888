/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * seccomp.c - how a program confines itself: prctl, and syscall() with either number, as libc
 * has no function for seccomp. A system call that it makes with an instruction of its own is not
 * seen. A thread that has its system calls sent to itself as a signal (Wine's) is confined, too:
 * those of the agent would end it. By prctl a program also says that it has an OpenTelemetry
 * context.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/labels/otel.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/silence.h"
#include "preload/sample/edge.h"
#include "preload/wrap/real.h"
#include "preload/wrap/sleep.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF          0
#endif

/* Without a filter it fails: libraries try whether the kernel knows of filters at all. */
static bool prctl_confines(long option, unsigned long mode, unsigned long filter) {
    if (option == PR_SET_SYSCALL_USER_DISPATCH)
        return mode != PR_SYS_DISPATCH_OFF;
    return option == PR_SET_SECCOMP &&
           (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0));
}

/* Whether the kernel takes names of mappings does not matter. */
static int name_mapping(const unsigned long argument[4]) {
    int result = real_prctl(PR_SET_VMA, argument), saved = errno;
    struct agent_thread *self = agent_started() && agent.settings.labels ? thread_self : NULL;
    uint32_t before;
    if (argument[0] == PR_SET_VMA_ANON_NAME && self != NULL && confine_enter(self, &before)) {
        otel_see_mapping(argument[1], argument[3]);
        confine_leave(self, before);
    }
    errno = saved;
    return result;
}

hcct_export int prctl(int option, ...) {
    struct sleep_place caller = EDGE_CALLER;
    unsigned long argument[4];
    struct confine confine;
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_VMA)
        return name_mapping(argument);
    if (!prctl_confines(option, argument[0], argument[1]))
        return real_prctl(option, argument);
    confine_begin(&confine, false, &caller);
    int result = real_prctl(option, argument), saved = errno;
    confine_end(&confine, result == 0);
    errno = saved;
    return result;
}

static bool seccomp_confines(unsigned long operation, unsigned long filter) {
    return operation == SECCOMP_SET_MODE_STRICT ||
           (operation == SECCOMP_SET_MODE_FILTER && filter != 0);
}

static bool call_confines(long number, const long argument[6]) {
    if (number == SYS_seccomp)
        return seccomp_confines((unsigned long)argument[0], (unsigned long)argument[2]);
    return prctl_confines(argument[0], (unsigned long)argument[1], (unsigned long)argument[2]);
}

/* The stub of syscall() jumps here, with all arguments as they are. A positive answer is a
 * descriptor, or the thread that could not be confined. */
long confine_syscall(long number, long a, long b, long c, long d, long e, long f)
    __attribute__((visibility("hidden"), used));
long confine_syscall(long number, long a, long b, long c, long d, long e, long f) {
    struct sleep_place caller = EDGE_CALLER;
    const long argument[6] = {a, b, c, d, e, f};
    struct confine confine;
    if (!call_confines(number, argument))
        return sleep_real_syscall(number, argument);
    bool all = number == SYS_seccomp && (b & SECCOMP_FILTER_FLAG_TSYNC) != 0;
    bool listens = number == SYS_seccomp && (b & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    confine_begin(&confine, all, &caller);
    long result = sleep_real_syscall(number, argument);
    int saved = errno;
    confine_end(&confine, result == 0 || (listens && result > 0));
    errno = saved;
    return result;
}
