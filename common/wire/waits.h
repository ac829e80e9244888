/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * waits.h - system calls that sleep, in which a thread may be woken by a signal and sleep again:
 * nobody can tell. They wait for ever, until a moment that they name, or leave what is left of the
 * time where it is found. What transfers something (it would end short), what waits for a signal,
 * and what ends after a time whose rest only the kernel knows are not among them.
 */
#ifndef HCCT_WIRE_WAITS_H
#define HCCT_WIRE_WAITS_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

static inline bool waits_for_futex(const uint64_t argument[6]) {
    unsigned operation = (unsigned)argument[1] & FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT_BITSET || (operation == FUTEX_WAIT && argument[3] == 0);
}

/* Those that name the moment itself may name it again; where the rest is left in another
 * place than the time it is there, and nobody looks at it unless the call has failed. */
static inline bool waits_for_clock(const uint64_t argument[6]) {
    bool known = argument[0] == CLOCK_REALTIME || argument[0] == CLOCK_MONOTONIC ||
                 argument[0] == CLOCK_BOOTTIME || argument[0] == CLOCK_TAI;
    return known &&
           ((argument[1] & TIMER_ABSTIME) != 0 || (argument[3] != 0 && argument[3] != argument[2]));
}

/* The call can be made again, but for one on a socket with a timeout (waits_on_socket). Any
 * context.
 */
static inline bool waits_again(long call, const uint64_t argument[6]) {
    switch (call) {
    case SYS_futex:
        return waits_for_futex(argument);
    case SYS_clock_nanosleep:
        return waits_for_clock(argument);
    case SYS_epoll_pwait:
        return (int32_t)argument[3] == -1 && argument[4] == 0;
    case SYS_ppoll:
        return argument[3] == 0;
    case SYS_pselect6:
        return argument[5] == 0;
    case SYS_read:
    case SYS_accept:
    case SYS_accept4:
    case SYS_wait4:
    case SYS_waitid:
        return true;
    case SYS_recvfrom:
        return (argument[3] & MSG_WAITALL) == 0;
    case SYS_recvmsg:
        return (argument[2] & MSG_WAITALL) == 0;
#if defined(__x86_64__)
    case SYS_epoll_wait:
        return (int32_t)argument[3] == -1;
    case SYS_poll:
        return (int32_t)argument[2] < 0;
    case SYS_select:
        return true;
#endif
    default:
        return false;
    }
}

/* Its descriptor, where that may be a socket, which may have a timeout for what it receives; else
 * -1. Any context. */
static inline int waits_on_socket(long call, const uint64_t argument[6]) {
    bool may_be = call == SYS_read || call == SYS_accept || call == SYS_accept4 ||
                  call == SYS_recvfrom || call == SYS_recvmsg;
    return may_be ? (int)argument[0] : -1;
}

#endif
