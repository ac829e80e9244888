/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * registers_aarch64.c - registers.h on aarch64.
 *
 * What is stored exclusively is stored only if nothing came between it and the load: a thread that
 * is stopped behind each instruction would do it again for ever. So these run up to where they go
 * on, at a breakpoint.
 */
#include "tests/step/registers.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define BREAKPOINT    0xd4200000u
#define NUMBER        8  /* the register of a system call's number */
#define EXCLUSIVE_MAX 16 /* instructions from the load up to the store, and behind it */
#define WAYS_MAX      8

bool registers_read(pid_t thread, struct user_regs_struct *regs) {
    struct iovec into = {regs, sizeof *regs};
    return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &into) == 0;
}

uint64_t registers_pc(const struct user_regs_struct *regs) {
    return regs->pc;
}

uint64_t registers_sp(const struct user_regs_struct *regs) {
    return regs->sp;
}

uint64_t registers_call(const struct user_regs_struct *regs) {
    return regs->regs[NUMBER];
}

struct unwind_registers registers_for_walk(const struct user_regs_struct *r) {
    struct unwind_registers regs = {.pc = r->pc, .known = ARCH_ALL_REGS, .exact = true};
    for (unsigned i = 0; i < ARCH_SP; i++)
        regs.reg[i] = r->regs[i];
    regs.reg[ARCH_SP] = r->sp;
    return regs;
}

/* ---- breakpoints ---- */

struct breakpoint {
    uint64_t word; /* the address of the two instructions */
    long code;
};

static bool set_breakpoint(pid_t thread, uint64_t address, struct breakpoint *b) {
    unsigned shift = (address & 4) != 0 ? 32 : 0;
    b->word = address & ~7ull;
    errno = 0;
    b->code = ptrace(PTRACE_PEEKTEXT, thread, b->word, 0);
    uint64_t code = (uint64_t)b->code & ~(0xffffffffull << shift);
    return errno == 0 &&
           ptrace(PTRACE_POKETEXT, thread, b->word, code | (uint64_t)BREAKPOINT << shift) == 0;
}

static void take_away(pid_t thread, const struct breakpoint *b, unsigned n) {
    while (n-- > 0)
        ptrace(PTRACE_POKETEXT, thread, b[n].word, b[n].code);
}

/* -1: it is not traced any more. */
static int run_to_any(pid_t thread, const uint64_t *way, unsigned n, int number) {
    struct breakpoint b[WAYS_MAX];
    unsigned set = 0;
    int status = -1;
    while (set < n && set_breakpoint(thread, way[set], &b[set]))
        set++;
    if (set == n && ptrace(PTRACE_CONT, thread, 0, number) == 0 &&
        waitpid(thread, &status, __WALL) != thread)
        status = -1;
    take_away(thread, b, set);
    return status;
}

bool registers_run_to(pid_t pid, uint64_t address) {
    int status = address != 0 ? run_to_any(pid, &address, 1, 0) : -1;
    return status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* ---- exclusive loads and stores ---- */

static bool is_exclusive(uint32_t word, bool load) {
    bool is_pair = (word >> 21 & 1) != 0;
    return (word & 0x3f800000u) == 0x08000000u && (word >> 22 & 1) == load &&
           (!is_pair || word >> 31 != 0);
}

/* Where a branch may go; 0: it is none. */
static uint64_t branch_target(uint32_t word, uint64_t pc) {
    int32_t distance;
    if ((word & 0x7c000000u) == 0x14000000u) /* b, bl */
        distance = (int32_t)(word << 6) >> 6;
    else if ((word & 0xff000010u) == 0x54000000u || (word & 0x7e000000u) == 0x34000000u)
        distance = (int32_t)(word << 8) >> 13; /* b.cond, cbz */
    else if ((word & 0x7e000000u) == 0x36000000u)
        distance = (int32_t)(word << 13) >> 18; /* tbz */
    else
        return 0;
    return pc + (uint64_t)(int64_t)distance * 4;
}

/* Where the instructions that begin with an exclusive load at `pc` may go on: behind the store and
 * the branch back, and where branches lead out. 0: it is none. */
static unsigned ways_out(struct memory *memory, uint64_t pc, uint64_t way[WAYS_MAX]) {
    uint32_t word[2 * EXCLUSIVE_MAX];
    unsigned store = 0, n = 0;
    if (!memory_bytes(memory, pc, word, 4) || !is_exclusive(word[0], true) ||
        !memory_bytes(memory, pc, word, sizeof word))
        return 0;
    while (++store < EXCLUSIVE_MAX && !is_exclusive(word[store], false))
        ;
    uint64_t end = pc + 4ull * (store + 1);
    if (store == EXCLUSIVE_MAX)
        return 0;
    if (branch_target(word[store + 1], end) != 0)
        end += 4;
    way[n++] = end;
    for (unsigned i = 1; pc + 4ull * i < end && n < WAYS_MAX; i++) {
        uint64_t to = branch_target(word[i], pc + 4ull * i);
        if (to != 0 && (to < pc - 4 * EXCLUSIVE_MAX || to > end))
            way[n++] = to;
    }
    return n;
}

int registers_step(pid_t thread, struct memory *memory, uint64_t pc, int number) {
    uint64_t way[WAYS_MAX];
    unsigned n = number == 0 ? ways_out(memory, pc, way) : 0;
    if (n > 0)
        return run_to_any(thread, way, n, 0);
    ptrace(PTRACE_SINGLESTEP, thread, 0, number);
    return -1;
}
