/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_aarch64_test.c - calls that the kernel makes again for our handler, where one of the
 * program's is due or has begun: contexts that are made up.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "common/wire/arch.h"
#include "preload/wrap/restart.h"
#include "tests/check.h"

#define OWN    SIGPROF
#define OTHER  SIGUSR1
#define FIRST  4711 /* what is in the register of the first argument, and of the result */
#define SECOND 1
#define NUMBER 8

/* nop; svc #0; nop */
static const uint32_t code[] = {0xd503201fu, 0xd4000001u, 0xd503201fu};

static struct restart_state state;

static void on_other(int number) {
    (void)number;
}

static void handle_with(int flags) {
    struct sigaction action = {.sa_handler = on_other, .sa_flags = flags};
    CHECK(sigaction(OTHER, &action, NULL) == 0);
}

static ucontext_t at(unsigned word, long number, long second) {
    ucontext_t uc = {.uc_flags = 0};
    uc.uc_mcontext.pc = (uintptr_t)&code[word];
    uc.uc_mcontext.regs[ARCH_RESULT] = FIRST;
    uc.uc_mcontext.regs[SECOND] = (uint64_t)second;
    uc.uc_mcontext.regs[NUMBER] = (uint64_t)number;
    return uc;
}

static bool is_ended(const ucontext_t *uc) {
    return uc->uc_mcontext.pc == (uintptr_t)&code[2] &&
           (int64_t)uc->uc_mcontext.regs[ARCH_RESULT] == -EINTR;
}

static bool is_left_alone(const ucontext_t *uc) {
    return uc->uc_mcontext.pc == (uintptr_t)&code[1] && uc->uc_mcontext.regs[ARCH_RESULT] == FIRST;
}

/* At the end of our handler. */
static bool ends(long number, long second) {
    ucontext_t uc = at(1, number, second);
    enum restart_verdict verdict = restart_interrupted(&state, &uc, OWN, true);
    CHECK(is_ended(&uc) || is_left_alone(&uc));
    CHECK(is_ended(&uc) == (verdict == RESTART_EXPECTED));
    return is_ended(&uc);
}

/* At the beginning of the program's. */
static bool ends_at_handler(long number, long second) {
    ucontext_t uc = at(1, number, second);
    restart_meet_handler(&state, OTHER, &uc);
    CHECK(is_ended(&uc) || is_left_alone(&uc));
    return is_ended(&uc);
}

static void test_calls(bool (*ends_now)(long number, long second), bool expected) {
    CHECK(ends_now(SYS_read, 0) == expected);
    CHECK(ends_now(SYS_accept4, 0) == expected);
    CHECK(ends_now(SYS_wait4, 0) == expected);
    CHECK(ends_now(SYS_futex, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG) == expected);
    CHECK(!ends_now(SYS_futex, FUTEX_LOCK_PI));
    CHECK(!ends_now(SYS_getpid, 0));
}

static void test_elsewhere(void) {
    ucontext_t before = at(0, SYS_read, 0), behind = at(2, SYS_read, 0);
    restart_meet_handler(&state, OTHER, &before);
    restart_meet_handler(&state, OTHER, &behind);
    CHECK(before.uc_mcontext.pc == (uintptr_t)&code[0]);
    CHECK(behind.uc_mcontext.pc == (uintptr_t)&code[2]);
    CHECK(restart_interrupted(&state, &behind, OWN, true) == RESTART_NONE);
    behind.uc_mcontext.regs[ARCH_RESULT] = (uint64_t)-EINTR;
    CHECK(restart_interrupted(&state, &behind, OWN, true) == RESTART_DECLINED);
}

int main(void) {
    sigset_t other;
    sigemptyset(&other);
    sigaddset(&other, OTHER);
    handle_with(0);
    test_calls(ends, false); /* nothing is pending */
    sigprocmask(SIG_BLOCK, &other, NULL);
    raise(OTHER);
    test_calls(ends, true);
    test_calls(ends_at_handler, true);
    test_elsewhere();
    handle_with(SA_RESTART);
    test_calls(ends, false);
    test_calls(ends_at_handler, false);
    return check_report();
}
