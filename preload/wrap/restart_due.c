/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_due.c - what is pending and not blocked, and a list of calls.
 */
#include "preload/wrap/restart_due.h"

#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/wire/compiler.h"
#include "preload/wrap/restart.h"

#ifdef SYS_open
#define OLD_NUMBERS SYS_open,
#else
#define OLD_NUMBERS
#endif

int restart_due(const ucontext_t *uc, int own, uintptr_t action[SYS_ACTION_WORDS]) {
    uint64_t pending = 0, blocked;
    memcpy(&blocked, &uc->uc_sigmask, sizeof blocked);
    sys2(SYS_rt_sigpending, &pending, KERNEL_SIGSET_BYTES);
    pending &= ~blocked & ~(1ull << (own - 1));
    for (; pending != 0; pending &= pending - 1) {
        int number = __builtin_ctzll(pending) + 1;
        sys_action(number, action);
        uintptr_t set = action[SYS_ACTION_HANDLER];
        if (set != (uintptr_t)SIG_DFL && set != (uintptr_t)SIG_IGN)
            return number;
    }
    return 0;
}

bool restart_is_expected(const ucontext_t *uc, int own) {
    uintptr_t action[SYS_ACTION_WORDS];
    return restart_due(uc, own, action) != 0;
}

bool restart_ends_by_signal(long number, long operation) {
    static const short numbers[] = {OLD_NUMBERS SYS_read, SYS_readv,    SYS_pread64,  SYS_preadv,
                                    SYS_recvfrom,         SYS_recvmsg,  SYS_recvmmsg, SYS_accept,
                                    SYS_accept4,          SYS_wait4,    SYS_waitid,   SYS_write,
                                    SYS_writev,           SYS_pwrite64, SYS_sendto,   SYS_sendmsg,
                                    SYS_sendmmsg,         SYS_openat,   SYS_flock,    SYS_fcntl,
                                    SYS_getrandom};
    operation &= FUTEX_CMD_MASK;
    if (number == SYS_futex)
        return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(numbers); i++)
        if (numbers[i] == number)
            return true;
    return false;
}
