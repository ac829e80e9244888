/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pass_over_test.c - a sample of libc's function that runs handlers after a fork is the caller's;
 * in the child, too, where there is no table yet, once it has been learned.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/sample/pass_over.h"
#include "tests/agent/own_tables.h"
#include "tests/check.h"

static uint64_t scratch[UNWIND_SCRATCH_WORDS];
static bool tables; /* are there */

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    bool found = own_tables_find(arg, pc, module);
    module->pending = found && !tables;
    if (module->pending)
        module->table = NULL;
    return found;
}

/* The caller of the function that called the handler. */
static struct unwind_registers at(void *pc, void *frame) {
    struct unwind_registers regs = {.pc = (uintptr_t)pc};
    regs.reg[ARCH_SP] = (uintptr_t)frame + 16;
    regs.reg[ARCH_FP] = *(const uint64_t *)frame;
    regs.known = 1u << ARCH_SP | UNWIND_FP_KNOWN;
    regs.exact = true;
    return regs;
}

static struct unwind_registers moved(struct unwind_registers regs) {
    struct unwind_env env = {.find = find, .scratch = scratch, .low = regs.reg[ARCH_SP]};
    env.high = UINT64_MAX;
    pass_over(&env, &regs);
    return regs;
}

static bool same(const struct unwind_registers *a, const struct unwind_registers *b) {
    return a->pc == b->pc && a->reg[ARCH_SP] == b->reg[ARCH_SP] &&
           a->reg[ARCH_FP] == b->reg[ARCH_FP] && a->exact == b->exact && a->known == b->known;
}

static void after_fork(void) {
    struct unwind_registers regs = at(__builtin_return_address(0), __builtin_frame_address(0));
    struct unwind_registers there = moved(regs);
    CHECK(same(&regs, &there)); /* a place like any other */
    pass_over_note(regs.pc);
    tables = false;
    there = moved(regs);
    CHECK(same(&regs, &there)); /* nothing is known of it */
    tables = true;
    struct unwind_registers caller = moved(regs);
    CHECK(caller.pc != regs.pc && !caller.exact && caller.reg[ARCH_SP] > regs.reg[ARCH_SP]);
    tables = false;
    there = moved(regs);
    CHECK(same(&caller, &there));
}

static void test_both_processes(void) {
    pid_t pid = fork();
    if (pid == 0)
        _exit(check_report());
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void) {
    CHECK(pthread_atfork(NULL, after_fork, after_fork) == 0);
    test_both_processes();
    for (unsigned i = 0; i < 8; i++)
        pass_over_note(0x1000 + i); /* too many: forgotten */
    struct unwind_registers other = {.pc = 0x1007}, there = moved(other);
    CHECK(same(&other, &there));
    own_tables_free();
    return check_report();
}
