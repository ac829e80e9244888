/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * waits.h - system calls that wait for ever, in which a thread may be woken by a signal and wait
 * again: nobody can tell. Neither what transfers something (it would end short) nor what ends at a
 * time (the rest of which only the kernel knows) is among them.
 */
#ifndef HCCT_WIRE_WAITS_H
#define HCCT_WIRE_WAITS_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static inline bool waits_for_futex(const uint64_t argument[6]) {
    unsigned operation = (unsigned)argument[1] & FUTEX_CMD_MASK;
    return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && argument[3] == 0;
}

/* Any context. */
static inline bool waits_for_ever(long call, const uint64_t argument[6]) {
    switch (call) {
    case SYS_futex:
        return waits_for_futex(argument);
    case SYS_epoll_pwait:
        return (int32_t)argument[3] == -1 && argument[4] == 0;
    case SYS_ppoll:
        return argument[2] == 0 && argument[3] == 0;
    case SYS_pselect6:
        return argument[4] == 0 && argument[5] == 0;
    case SYS_read:
    case SYS_accept:
    case SYS_accept4:
    case SYS_wait4:
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
        return argument[4] == 0;
#endif
    default:
        return false;
    }
}

#endif
