/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * point.c - pc, stack and system call of a thread.
 */
#include "client/attach/point.h"

#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "common/wire/compiler.h"
#include "common/wire/waits.h"

#define SEEN_BYTES   65536u  /* of its stack */
#define ROOM_BYTES   131072u /* that must be left */
#define CODE_BITS    47
#define CALL_LONGEST 7u

/* ---- return addresses ---- */

/* What stands before it is a call: anything else that points there is no return address. */
static bool is_behind_call(const struct target *target, uint64_t address) {
    unsigned char before[CALL_LONGEST];
    if (!target_read(target, address - CALL_LONGEST, before, sizeof before))
        return true;
    if (before[CALL_LONGEST - 5] == 0xe8)
        return true;
    for (unsigned length = 2; length <= CALL_LONGEST; length++)
        if (before[CALL_LONGEST - length] == 0xff &&
            (before[CALL_LONGEST - length + 1] & 0x38) == 0x10)
            return true;
    return false;
}

/* Into the first `ranges` of those that may be locked. */
static bool returns_to(const struct code *code, size_t ranges, const struct target *target,
                       uint64_t sp, uint64_t end) {
    uint64_t from = sp & ~7ull, bytes = end - from < SEEN_BYTES ? end - from : SEEN_BYTES;
    uint64_t *word = malloc(bytes);
    bool found = word == NULL || !target_read(target, from, word, bytes);
    for (uint64_t i = 0; !found && i < bytes / 8; i++)
        found = code_is_locked(code, ranges, word[i]) && is_behind_call(target, word[i]);
    free(word);
    return found;
}

/* ---- the stack ---- */

/* The main thread's grows as it is used. */
static uint64_t room_below(const struct target *target, const struct target_map *stack,
                           uint64_t sp) {
    uint64_t limit;
    if (strcmp(stack->path, "[stack]") != 0)
        return sp - stack->start;
    if (!target_limit(target->pid, "Max stack size", &limit))
        return 0;
    uint64_t used = stack->end - sp;
    return limit > used ? limit - used : 0;
}

static enum point judge(const struct code *code, const struct target *target, uint64_t pc,
                        uint64_t sp, enum point_care care) {
    size_t ranges = care == POINT_ALL_CODE ? code->n_locked : code->n_agent;
    const struct target_map *stack = target_map_at(target, sp), *text = target_map_at(target, pc);
    if (text == NULL || !text->executable || pc >> CODE_BITS != 0)
        return POINT_BUSY;
    if (stack == NULL || !stack->writable || room_below(target, stack, sp) < ROOM_BYTES)
        return POINT_NO_ROOM;
    if (code_is_locked(code, ranges, pc))
        return POINT_LOCKED;
    return returns_to(code, ranges, target, sp, stack->end) ? POINT_DOUBTFUL : POINT_SAFE;
}

/* ---- system calls ---- */

/* A transfer that would end short, a connection that would be begun twice, random bytes. */
static const long fragile[] = {SYS_write,    SYS_writev,   SYS_pwrite64,        SYS_pwritev,
                               SYS_pwritev2, SYS_sendto,   SYS_sendmsg,         SYS_sendmmsg,
                               SYS_sendfile, SYS_splice,   SYS_copy_file_range, SYS_connect,
                               SYS_tee,      SYS_vmsplice, SYS_io_uring_enter,  SYS_getrandom};

/* In these a thread holds no lock of an allocator's. */
static const long calm[] = {
    SYS_poll,           SYS_ppoll,       SYS_select,       SYS_pselect6,
    SYS_epoll_wait,     SYS_epoll_pwait, SYS_epoll_pwait2, SYS_nanosleep,
    SYS_accept,         SYS_accept4,     SYS_recvfrom,     SYS_recvmsg,
    SYS_pause,          SYS_wait4,       SYS_waitid,       SYS_rt_sigtimedwait,
    SYS_clock_nanosleep};

/* They answer EINTR, whoever interrupts them, and may be made again. */
static const long repeated[] = {
    SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2,    SYS_semop,        SYS_semtimedop,
    SYS_msgrcv,     SYS_msgsnd,      SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents};

/* So do these on a socket with a timeout, when nothing has been transferred yet. */
static const long of_sockets[] = {SYS_read,     SYS_readv,  SYS_recvfrom, SYS_recvmsg,
                                  SYS_recvmmsg, SYS_accept, SYS_accept4,  SYS_write,
                                  SYS_writev,   SYS_sendto, SYS_sendmsg,  SYS_sendmmsg};

static bool is_among(long call, const long *list, size_t n) {
    while (n > 0 && list[n - 1] != call)
        n--;
    return n > 0;
}

#define IS_AMONG(call, list) is_among(call, list, HCCT_ARRAY_LEN(list))

/* Of a receive that is to have all of its bytes, some may be there. */
static bool waits_for_all(const struct target_sleep *where) {
    uint64_t flags = where->call == SYS_recvmsg ? where->argument[2]
                     : where->call == SYS_recvfrom || where->call == SYS_recvmmsg
                         ? where->argument[3]
                         : 0;
    return (flags & MSG_WAITALL) != 0;
}

enum point point_asleep(const struct code *code, const struct target *target,
                        const struct target_sleep *where, enum point_care care) {
    if (where->call < 0)
        return POINT_BUSY; /* stopped, or at a fault */
    if (IS_AMONG(where->call, fragile) || waits_for_all(where))
        return POINT_FRAGILE;
    if (care == POINT_ALL_CODE && code->own_malloc && !IS_AMONG(where->call, calm))
        return POINT_LOCKED;
    return judge(code, target, where->pc, where->sp, care);
}

bool point_is_repeated(const struct target_sleep *where) {
    return IS_AMONG(where->call, repeated);
}

/* Those that the kernel begins again by itself, with the rest of their time. */
bool point_is_timed(const struct target_sleep *where) {
    return where->call == SYS_nanosleep || where->call == SYS_clock_nanosleep ||
           where->call == SYS_poll || (where->call == SYS_futex && where->argument[3] != 0);
}

bool point_in_loader(const struct code *code, const struct target *target,
                     const struct target_sleep *where) {
    const struct target_map *stack = target_map_at(target, where->sp);
    return stack != NULL && returns_to(code, code->n_loader, target, where->sp, stack->end);
}

/* ---- sequences that must run undisturbed ---- */

/* The kernel ends one by a jump where its thread is interrupted; but only if it finds the thread
 * still in it. */
static bool in_sequence(const struct target *target, pid_t tid, uint64_t pc) {
    struct __ptrace_rseq_configuration where;
    struct rseq_cs sequence;
    uint64_t at = 0;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof where, &where) <= 0 ||
        where.rseq_abi_pointer == 0)
        return false;
    if (!target_read(target, where.rseq_abi_pointer + offsetof(struct rseq, rseq_cs), &at,
                     sizeof at))
        return true;
    if (at == 0)
        return false;
    return !target_read(target, at, &sequence, sizeof sequence) ||
           pc - sequence.start_ip < sequence.post_commit_offset;
}

#define CODE_64 0x33

enum point point_stopped(const struct code *code, const struct target *target, pid_t tid,
                         const struct user_regs_struct *regs, enum point_care care) {
    if (regs->cs != CODE_64 || in_sequence(target, tid, regs->rip))
        return POINT_BUSY;
    long call = (long)regs->orig_rax;
    if (care == POINT_ALL_CODE && code->own_malloc && !(call >= 0 && IS_AMONG(call, calm)))
        return POINT_LOCKED;
    return judge(code, target, regs->rip, regs->rsp, care);
}

/* ---- after the stop ---- */

#define BIT(signal)        (1ull << ((signal)-1))
#define IGNORED_BY_DEFAULT (BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCHLD))

#define INFOS 8

/* Signals whose timer is deleted by now (the agent's, when it has left): from 6.13 on the kernel
 * drops them where it was to deliver them. */
static uint64_t orphans(pid_t pid, pid_t tid) {
    struct __ptrace_peeksiginfo_args from = {.nr = INFOS};
    siginfo_t infos[INFOS];
    uint64_t orphans = 0, others = 0;
    long n;
    for (; (n = ptrace(PTRACE_PEEKSIGINFO, tid, &from, infos)) > 0; from.off += (uint64_t)n)
        for (long i = 0; i < n; i++) {
            bool orphan =
                infos[i].si_code == SI_TIMER && !target_has_timer(pid, infos[i].si_timerid);
            *(orphan ? &orphans : &others) |= BIT(infos[i].si_signo);
        }
    return orphans & ~others;
}

/* Of the application's; the thread would see its call interrupted in any case. Those that nobody is
 * to have are pending only because the thread is traced. */
bool point_signal_is_due(const struct target *target, pid_t tid) {
    uint64_t own = 0, all = 0, blocked = 0, caught = 0, ignored = 0;
    bool known = target_status(target->pid, tid, "SigPnd", true, &own) &&
                 target_status(target->pid, tid, "ShdPnd", true, &all) &&
                 target_status(target->pid, tid, "SigBlk", true, &blocked) &&
                 target_status(target->pid, tid, "SigIgn", true, &ignored) &&
                 target_status(target->pid, tid, "SigCgt", true, &caught);
    if (own != 0)
        own &= ~orphans(target->pid, tid);
    return !known || ((own | all) & ~blocked & ~ignored & ~(IGNORED_BY_DEFAULT & ~caught)) != 0;
}

bool point_waits(const struct user_regs_struct *regs, int *on) {
    const uint64_t argument[] = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9};
    long call = (long)regs->orig_rax, result = (long)regs->rax;
    *on = waits_on_socket(call, argument);
    return call >= 0 && result < 0 && waits_again(call, argument);
}

void point_again(const struct target *target, pid_t tid, struct user_regs_struct *regs) {
    unsigned char code[2];
    long call = (long)regs->orig_rax;
    if (call < 0 || (long)regs->rax != -EINTR ||
        !(IS_AMONG(call, repeated) || IS_AMONG(call, of_sockets)) ||
        !target_read(target, regs->rip - sizeof code, code, sizeof code) || code[0] != 0x0f ||
        code[1] != 0x05 || point_signal_is_due(target, tid))
        return;
    regs->rip -= sizeof code;
    regs->rax = (unsigned long long)call;
    regs->orig_rax = ~0ull;
}
