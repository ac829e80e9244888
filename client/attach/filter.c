/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.c - jumps of a filter go forward only, so one pass from its beginning sees all paths.
 */
#include "client/attach/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/attach/target.h"
#include "common/wire/compiler.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Made by the loader, by the agent when it is attached and left, and in its handler. */
static const int calls[] = {SYS_brk,
                            SYS_clock_getres,
                            SYS_clock_gettime,
                            SYS_close,
                            SYS_connect,
                            SYS_fstat,
                            SYS_futex,
                            SYS_get_robust_list,
                            SYS_getdents64,
                            SYS_getpid,
                            SYS_getppid,
                            SYS_getrandom,
                            SYS_getrusage,
                            SYS_getsockopt,
                            SYS_gettid,
                            SYS_madvise,
                            SYS_memfd_create,
                            SYS_mmap,
                            SYS_mprotect,
                            SYS_munlock,
                            SYS_munmap,
                            SYS_newfstatat,
                            SYS_openat,
                            SYS_ppoll,
                            SYS_prctl,
                            SYS_pread64,
                            SYS_prlimit64,
                            SYS_process_vm_readv,
                            SYS_process_vm_writev,
                            SYS_read,
                            SYS_readlinkat,
                            SYS_recvmsg,
                            SYS_restart_syscall,
                            SYS_rt_sigaction,
                            SYS_rt_sigpending,
                            SYS_rt_sigprocmask,
                            SYS_rt_sigreturn,
                            SYS_rt_sigtimedwait,
                            SYS_sched_yield,
                            SYS_sendto,
                            SYS_sigaltstack,
                            SYS_socket,
                            SYS_tgkill,
                            SYS_timer_create,
                            SYS_timer_delete,
                            SYS_timer_settime,
#if defined(__x86_64__)
                            SYS_getrlimit,
                            SYS_readlink
#endif
};

/* What the accumulator holds where an instruction begins. */
enum held { HELD_NOT_REACHED, HELD_VALUE, HELD_ANYTHING };

struct state {
    enum held held;
    uint32_t value;
};

static void reach(struct state *states, size_t n, size_t at, struct state from) {
    if (at >= n)
        return;
    if (states[at].held != HELD_NOT_REACHED &&
        (states[at].held == HELD_ANYTHING || from.held == HELD_ANYTHING ||
         states[at].value != from.value))
        from.held = HELD_ANYTHING;
    states[at] = from;
}

static struct state load(const struct sock_filter *in, int call) {
    if (BPF_MODE(in->code) == BPF_IMM)
        return (struct state){HELD_VALUE, in->k};
    if (BPF_MODE(in->code) == BPF_ABS && in->k == offsetof(struct seccomp_data, nr))
        return (struct state){HELD_VALUE, (uint32_t)call};
    if (BPF_MODE(in->code) == BPF_ABS && in->k == offsetof(struct seccomp_data, arch))
        return (struct state){HELD_VALUE, ARCHITECTURE};
    return (struct state){HELD_ANYTHING, 0};
}

/* Both ways, where it is not known. */
static void jump(struct state *states, size_t n, size_t at, const struct sock_filter *in) {
    uint32_t a = states[at].value;
    bool known = states[at].held == HELD_VALUE && BPF_SRC(in->code) == BPF_K;
    bool holds = BPF_OP(in->code) == BPF_JEQ   ? a == in->k
                 : BPF_OP(in->code) == BPF_JGT ? a > in->k
                 : BPF_OP(in->code) == BPF_JGE ? a >= in->k
                                               : (a & in->k) != 0;
    if (BPF_OP(in->code) == BPF_JA) {
        reach(states, n, at + 1 + in->k, states[at]);
        return;
    }
    if (!known || holds)
        reach(states, n, at + 1 + in->jt, states[at]);
    if (!known || !holds)
        reach(states, n, at + 1 + in->jf, states[at]);
}

static bool is_harmless(const struct sock_filter *in) {
    uint32_t action = in->k & SECCOMP_RET_ACTION_FULL;
    return BPF_RVAL(in->code) == BPF_K &&
           (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
            action == SECCOMP_RET_ERRNO);
}

bool filter_lets_call(const struct sock_filter *code, size_t n, int call) {
    struct state *states = calloc(n + 1, sizeof *states);
    bool lets = states != NULL;
    if (lets)
        states[0].held = HELD_ANYTHING;
    for (size_t at = 0; lets && at < n; at++) {
        const struct sock_filter *in = &code[at];
        unsigned class = BPF_CLASS(in->code);
        if (states[at].held == HELD_NOT_REACHED)
            continue;
        if (class == BPF_RET)
            lets = is_harmless(in);
        else if (class == BPF_JMP)
            jump(states, n, at, in);
        else if (class == BPF_LD)
            reach(states, n, at + 1, load(in, call));
        else if (class == BPF_ALU || (class == BPF_MISC && BPF_MISCOP(in->code) == BPF_TXA))
            reach(states, n, at + 1, (struct state){HELD_ANYTHING, 0});
        else
            reach(states, n, at + 1, states[at]);
    }
    free(states);
    return lets;
}

/* The kernel's condition for reading them, as root of the whole machine and under none itself. */
bool filter_can_be_read(void) {
    uint64_t rights = 0, mode = 1;
    return target_status(getpid(), 0, "CapEff", true, &rights) &&
           (rights >> CAP_SYS_ADMIN & 1) != 0 &&
           target_status(getpid(), 0, "Seccomp", false, &mode) && mode == 0;
}

static bool lets_all(const struct sock_filter *code, size_t n) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(calls); i++)
        if (!filter_lets_call(code, n, calls[i]))
            return false;
    return true;
}

bool filter_lets_agent(pid_t tid) {
    struct sock_filter code[BPF_MAXINSNS];
    long n;
    for (unsigned long which = 0; (n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, which, NULL)) > 0;
         which++)
        if (n > BPF_MAXINSNS || ptrace(PTRACE_SECCOMP_GET_FILTER, tid, which, code) != n ||
            !lets_all(code, (size_t)n))
            return false;
    return n < 0 && errno == ENOENT; /* that was the last one */
}

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

bool filter_dispatches(pid_t tid) {
    struct {
        uint64_t mode, selector, from, bytes;
    } config = {0};
    return ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, sizeof config, &config) == 0 &&
           config.mode != 0;
}
