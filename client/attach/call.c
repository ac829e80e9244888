/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call.c - a signal's frame, built as the kernel builds it.
 */
#include "client/attach/call.h"

#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "client/attach/point.h"
#include "common/base/clock.h"

#define RED_ZONE      128
#define KERNEL_MASK   8 /* bytes of a signal set */
#define XSTATE_ALIGN  64
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
#define SOFTWARE_AT   464 /* in the extended state: bytes that the kernel uses in frames */
#define FRAME_FLAGS   7ul /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define RESTART_CALL  219 /* restart_syscall */
#define DIRECTION     0x400ul
#define TRAP          0x100ul
#define STOP_NS       100000000ull

enum { RESTARTSYS = 512, RESTARTNOINTR = 513, RESTARTNOHAND = 514, RESTART_BLOCK = 516 };

/* ---- what the thread has ---- */

static bool save(struct call *call) {
    struct iovec part = {call->xstate, sizeof call->xstate};
    pid_t tid = call->stop->tid;
    if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &part) != 0 ||
        part.iov_len >= sizeof call->xstate || part.iov_len < SOFTWARE_AT)
        return false;
    call->xstate_bytes = part.iov_len;
    return ptrace(PTRACE_GETSIGMASK, tid, KERNEL_MASK, &call->mask) == 0;
}

static bool find_errno(struct call *call) {
    uint64_t distance;
    if (!target_read(call->target, call->code->errno_slot, &distance, sizeof distance))
        return false;
    call->errno_at = call->regs.fs_base + distance;
    return target_read(call->target, call->errno_at, &call->errno_was, sizeof call->errno_was);
}

/* Faults come through, and so does what can't be blocked. */
static uint64_t blocking_mask(void) {
    static const int open[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    uint64_t mask = UINT64_MAX;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        mask &= ~(1ull << (open[i] - 1));
    return mask;
}

/* What is set after the registers is put back by the frame, whatever becomes of us. */
static bool block_signals(const struct call *call) {
    uint64_t mask = blocking_mask();
    return ptrace(PTRACE_SETSIGMASK, call->stop->tid, KERNEL_MASK, &mask) == 0;
}

/* ---- the frame ---- */

/* As the kernel does it where no handler is in the way. What is left of a sleep with a timeout only
 * the kernel knows, as long as nothing returns as from a handler: then RESTART_CALL has the rest;
 * else the sleep is made again with its whole timeout. */
static void restart_by_hand(struct user_regs_struct *regs, bool by_frame) {
    long call = (long)regs->orig_rax, result = -(long)regs->rax;
    if (call < 0)
        return;
    if (result == RESTARTSYS || result == RESTARTNOINTR || result == RESTARTNOHAND)
        regs->rax = (unsigned long long)call;
    else if (result == RESTART_BLOCK)
        regs->rax = by_frame ? (unsigned long long)call : RESTART_CALL;
    else
        return;
    regs->rip -= 2;
}

static void fill_registers(const struct user_regs_struct *regs, greg_t *to) {
    to[REG_R8] = (greg_t)regs->r8;
    to[REG_R9] = (greg_t)regs->r9;
    to[REG_R10] = (greg_t)regs->r10;
    to[REG_R11] = (greg_t)regs->r11;
    to[REG_R12] = (greg_t)regs->r12;
    to[REG_R13] = (greg_t)regs->r13;
    to[REG_R14] = (greg_t)regs->r14;
    to[REG_R15] = (greg_t)regs->r15;
    to[REG_RDI] = (greg_t)regs->rdi;
    to[REG_RSI] = (greg_t)regs->rsi;
    to[REG_RBP] = (greg_t)regs->rbp;
    to[REG_RBX] = (greg_t)regs->rbx;
    to[REG_RDX] = (greg_t)regs->rdx;
    to[REG_RAX] = (greg_t)regs->rax;
    to[REG_RCX] = (greg_t)regs->rcx;
    to[REG_RSP] = (greg_t)regs->rsp;
    to[REG_RIP] = (greg_t)regs->rip;
    to[REG_EFL] = (greg_t)regs->eflags;
    to[REG_CSGSFS] = (greg_t)(regs->cs | regs->ss << 48);
}

/* Of the alternate stack the frame says what it would in a handler: the kernel sets it from there.
 * One that was never asked for is said to be as it is by a flag of the kernel's that leaves it. */
static void fill_frame(const struct user_regs_struct *regs, uint64_t mask, uint64_t xstate,
                       ucontext_t *frame) {
    memset(frame, 0, sizeof *frame);
    frame->uc_flags = FRAME_FLAGS;
    frame->uc_stack.ss_flags = -1; /* no such flags: it stays as it is */
    fill_registers(regs, frame->uc_mcontext.gregs);
    frame->uc_mcontext.fpregs = (void *)(uintptr_t)xstate; /* NOLINT: an address over there */
    memcpy(&frame->uc_sigmask, &mask, KERNEL_MASK);
}

#define FRAME_BYTES (offsetof(ucontext_t, uc_sigmask) + KERNEL_MASK)

/* Below `top`; a function that returns there goes on with these. 0: it can't be written. */
static uint64_t put_frame(const struct call *call, uint64_t top,
                          const struct user_regs_struct *regs, uint64_t mask, uint64_t xstate) {
    ucontext_t frame;
    uint64_t at = ((top - FRAME_BYTES) & ~15ull) - 8;
    fill_frame(regs, mask, xstate, &frame);
    bool put = target_write(call->target, at + 8, &frame, FRAME_BYTES) &&
               target_write(call->target, at, &call->code->sigreturn, sizeof call->code->sigreturn);
    return put ? at : 0;
}

static bool write_xstate(const struct call *call, uint64_t at) {
    struct {
        uint32_t magic, bytes;
        uint64_t features;
        uint32_t state_bytes, pad[7];
    } software = {
        XSTATE_MAGIC1, (uint32_t)call->xstate_bytes + 4, 0, (uint32_t)call->xstate_bytes, {0}};
    const uint32_t end = XSTATE_MAGIC2;
    memcpy(&software.features, call->xstate + SOFTWARE_AT, sizeof software.features);
    return target_write(call->target, at, call->xstate, call->xstate_bytes) &&
           target_write(call->target, at + SOFTWARE_AT, &software, sizeof software) &&
           target_write(call->target, at + call->xstate_bytes, &end, sizeof end);
}

static bool is_restarted_by_kernel(const struct call *call) {
    return (long)call->regs.orig_rax >= 0 && -(long)call->regs.rax == RESTART_BLOCK;
}

/* The function returns into a call of tgkill, and that into the frame. Not where a sleep is to go
 * on whose rest only the kernel knows: it forgets that when anything returns as from a handler. */
static void put_detour(struct call *call, uint64_t xstate) {
    struct user_regs_struct regs = call->regs;
    pid_t pid = call->stop->pid, tid = call->stop->tid;
    if (call->bell == 0 || call->code->tgkill == 0 || is_restarted_by_kernel(call))
        return;
    regs.rip = call->code->tgkill;
    regs.rdi = (unsigned long long)target_own_number(pid, pid);
    regs.rsi = (unsigned long long)target_own_number(pid, tid);
    regs.rdx = (unsigned long long)call->bell;
    regs.rsp = call->frame;
    regs.eflags &= ~(DIRECTION | TRAP);
    call->detour =
        put_frame(call, call->frame, &regs, blocking_mask() & ~(1ull << (call->bell - 1)), xstate);
}

/* From the top: extended state, what functions are given, the frames. */
static bool write_frames(struct call *call, size_t room) {
    struct user_regs_struct regs = call->regs;
    uint64_t xstate = (call->regs.rsp - RED_ZONE - call->xstate_bytes - sizeof(uint32_t)) &
                      ~(uint64_t)(XSTATE_ALIGN - 1);
    call->room = (xstate - room) & ~15ull;
    restart_by_hand(&regs, true);
    if (!write_xstate(call, xstate))
        return false;
    call->frame = put_frame(call, call->room, &regs, call->mask, xstate);
    if (call->frame != 0)
        put_detour(call, xstate);
    return call->frame != 0;
}

bool call_begin(struct call *call, struct stop *stop, const struct target *target,
                const struct code *code, const struct user_regs_struct *regs, size_t room,
                int bell) {
    *call =
        (struct call){.stop = stop, .target = target, .code = code, .regs = *regs, .bell = bell};
    return save(call) && find_errno(call) && write_frames(call, room);
}

/* ---- calling ---- */

/* Its functions have returned: it is about to ask the kernel for what it had. */
static bool is_back(struct call *call) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, call->stop->tid, NULL, &regs) != 0)
        return false;
    if ((long)regs.orig_rax == SYS_rt_sigreturn && regs.rsp == call->frame + 8)
        return true;
    call->result = regs.rax;
    return false;
}

static bool set_registers(const struct call *call, uint64_t frame, uint64_t function,
                          const uint64_t argument[3]) {
    struct user_regs_struct regs = call->regs;
    regs.rip = function;
    regs.rdi = argument[0];
    regs.rsi = argument[1];
    regs.rdx = argument[2];
    regs.rsp = frame;
    regs.rax = 0;
    regs.orig_rax = ~0ull;
    regs.eflags &= ~(DIRECTION | TRAP);
    return ptrace(PTRACE_SETREGS, call->stop->tid, NULL, &regs) == 0;
}

static bool is_over(struct call *call, enum stopped stopped) {
    call->has_rung = stopped == STOPPED_BELL;
    return call->has_rung || (stopped == STOPPED_CALL && is_back(call));
}

enum called call_function(struct call *call, enum call_way way, uint64_t function,
                          const uint64_t argument[3], uint64_t deadline_ns) {
    enum stopped stopped;
    bool detour = way == CALL_DETOUR && call->detour != 0;
    bool rings = detour || (way == CALL_RINGS && call->bell != 0);
    if (!set_registers(call, detour ? call->detour : call->frame, function, argument) ||
        !block_signals(call))
        return CALLED_GONE;
    call->stop->bell = rings ? call->bell : 0;
    do {
        stopped = stop_run(call->stop, !rings, deadline_ns);
        if (is_over(call, stopped))
            return CALLED;
    } while ((stopped == STOPPED_CALL && clock_ns(CLOCK_MONOTONIC) < deadline_ns) ||
             stopped == STOPPED_HERE);
    call->runs = stopped == STOPPED_NOT;
    return stopped == STOPPED_FAULT  ? CALLED_FAULT
           : stopped == STOPPED_GONE ? CALLED_GONE
                                     : CALLED_LATE;
}

/* ---- the end ---- */

/* The mask comes before the registers: from then on the thread is the application's. A signal that
 * was due at the stop may have been the agent's, and gone with its timer: then no handler makes the
 * interrupted call again. `at_entry`: it stands where it would return as from a handler, and that
 * call is left out. */
static bool put_back(const struct call *call, bool at_entry) {
    struct iovec part = {(void *)(uintptr_t)call->xstate, call->xstate_bytes};
    struct user_regs_struct regs = call->regs;
    pid_t tid = call->stop->tid;
    if (!target_write(call->target, call->errno_at, &call->errno_was, sizeof call->errno_was) ||
        ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &part) != 0 ||
        ptrace(PTRACE_SETSIGMASK, tid, KERNEL_MASK, &call->mask) != 0)
        return false;
    point_again(call->target, tid, &regs);
    if (at_entry) {
        restart_by_hand(&regs, false);
        regs.orig_rax = ~0ull;
    }
    return ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0;
}

/* Where the bell has rung the thread is on its way out of a system call, and the kernel itself
 * begins an interrupted one again. It does so, too, where a signal of the application is due, and
 * the thread returns: it is stopped there, which comes for certain, and must be waited for. */
bool call_end(struct call *call, bool is_back) {
    if (is_back && call->has_rung)
        return put_back(call, false);
    if (is_back && !point_signal_is_due(call->target, call->stop->tid))
        return put_back(call, true);
    if (!stop_interrupt(call->stop))
        return false;
    enum stopped stopped = stop_run(call->stop, false, UINT64_MAX);
    return (stopped == STOPPED_HERE || stopped == STOPPED_FAULT) && put_back(call, false);
}

void call_abandon(struct call *call) {
    if (call->runs && stop_interrupt(call->stop))
        (void)stop_wait(call->stop, clock_ns(CLOCK_MONOTONIC) + STOP_NS);
}
