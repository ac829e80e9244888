/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * registers_x86_64.c - registers.h on x86-64.
 */
#include "tests/step/registers.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define BREAKPOINT 0xcc

bool registers_read(pid_t thread, struct user_regs_struct *regs) {
    return ptrace(PTRACE_GETREGS, thread, 0, regs) == 0;
}

uint64_t registers_pc(const struct user_regs_struct *regs) {
    return regs->rip;
}

uint64_t registers_sp(const struct user_regs_struct *regs) {
    return regs->rsp;
}

uint64_t registers_call(const struct user_regs_struct *regs) {
    return regs->rax;
}

struct unwind_registers registers_for_walk(const struct user_regs_struct *r) {
    return (struct unwind_registers){
        .pc = r->rip,
        .reg = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8, r->r9,
                r->r10, r->r11, r->r12, r->r13, r->r14, r->r15},
        .known = ARCH_ALL_REGS,
        .exact = true,
    };
}

static bool is_stopped_by(pid_t pid, int number) {
    int status;
    return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == number;
}

/* The processor is behind the breakpoint then. */
bool registers_run_to(pid_t pid, uint64_t address) {
    struct user_regs_struct regs;
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
    if (address == 0 || errno != 0 ||
        ptrace(PTRACE_POKETEXT, pid, address, (code & ~0xffl) | BREAKPOINT) != 0 ||
        ptrace(PTRACE_CONT, pid, 0, 0) != 0 || !is_stopped_by(pid, SIGTRAP) ||
        ptrace(PTRACE_GETREGS, pid, 0, &regs) != 0)
        return false;
    regs.rip = address;
    return ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0 &&
           ptrace(PTRACE_POKETEXT, pid, address, code) == 0;
}

int registers_step(pid_t thread, struct memory *memory, uint64_t pc, int number) {
    (void)memory, (void)pc;
    ptrace(PTRACE_SINGLESTEP, thread, 0, number);
    return -1;
}
