/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter_test.c - seccomp filters that let a call live, and that do not, whatever its arguments.
 */
#include "client/attach/filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "tests/check.h"

#define LOAD(member)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF_EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define END(action)          BPF_STMT(BPF_RET | BPF_K, action)
#define KILL                 END(SECCOMP_RET_KILL_PROCESS)
#define ALLOW                END(SECCOMP_RET_ALLOW)
#define REFUSE               END(SECCOMP_RET_ERRNO | 1)
#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define LETS(code, call) filter_lets_call(code, sizeof(code) / sizeof *(code), call)

static const struct sock_filter one_forbidden[] = {LOAD(nr), IF_EQUAL(SYS_timer_create, 0, 1), KILL,
                                                   ALLOW};
static const struct sock_filter one_refused[] = {LOAD(nr), IF_EQUAL(SYS_timer_create, 0, 1), REFUSE,
                                                 ALLOW};
static const struct sock_filter asks_somebody[] = {LOAD(nr), IF_EQUAL(SYS_socket, 0, 1),
                                                   END(SECCOMP_RET_USER_NOTIF), ALLOW};
/* As a container's: of another architecture all is forbidden. */
static const struct sock_filter by_architecture[] = {
    LOAD(arch), IF_EQUAL(THIS_ARCHITECTURE, 1, 0), KILL, LOAD(nr), IF_EQUAL(SYS_brk, 1, 0), REFUSE,
    ALLOW};
static const struct sock_filter by_argument[] = {
    LOAD(nr), IF_EQUAL(SYS_socket, 0, 3), LOAD(args[0]), IF_EQUAL(40, 0, 1), KILL, ALLOW};
/* The same, by a part of the argument. */
static const struct sock_filter by_part[] = {LOAD(nr),
                                             IF_EQUAL(SYS_socket, 0, 4),
                                             LOAD(args[0]),
                                             BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 7),
                                             IF_EQUAL(1, 0, 1),
                                             KILL,
                                             ALLOW};
static const struct sock_filter by_order[] = {
    LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_timer_create, 0, 1), KILL, ALLOW};
static const struct sock_filter by_register[] = {BPF_STMT(BPF_LDX | BPF_IMM, SECCOMP_RET_ALLOW),
                                                 BPF_STMT(BPF_MISC | BPF_TXA, 0),
                                                 BPF_STMT(BPF_RET | BPF_A, 0)};
static const struct sock_filter past_its_end[] = {BPF_STMT(BPF_JMP | BPF_JA, 4000), KILL};

int main(void) {
    CHECK(!LETS(one_forbidden, SYS_timer_create));
    CHECK(LETS(one_forbidden, SYS_mmap));
    CHECK(LETS(one_refused, SYS_timer_create));
    CHECK(!LETS(asks_somebody, SYS_socket));
    CHECK(LETS(asks_somebody, SYS_brk));
    CHECK(LETS(by_architecture, SYS_brk));
    CHECK(LETS(by_architecture, SYS_mmap));
    CHECK(!LETS(by_argument, SYS_socket));
    CHECK(LETS(by_argument, SYS_connect));
    CHECK(!LETS(by_part, SYS_socket));
    CHECK(LETS(by_part, SYS_connect));
    CHECK(!LETS(by_order, SYS_timer_create));
    CHECK(LETS(by_order, SYS_read)); /* of a smaller number on each architecture */
    CHECK(!LETS(by_register, SYS_brk));
    CHECK(LETS(past_its_end, SYS_brk)); /* the kernel takes none that is like that */
    return check_report();
}
