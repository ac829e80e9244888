/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * signal.h - which signal the agent uses, and who has it blocked. handler.h changes it.
 */
#ifndef HCCT_AGENT_SIGNAL_H
#define HCCT_AGENT_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/life/sys.h"

struct agent_thread;

/* The signal in use, 0: none. Any context. */
int signal_number(void);

/* What the kernel does with one of this number by default is nothing. Any context. */
bool signal_is_ignored_by_default(int number);
/* It is that one from now on; for handler.c. */
void signal_use(int number);

/* In a mask of the kernel; 0: no signal. */
static inline uint64_t signal_bit(int number) {
    return number > 0 ? 1ull << (number - 1) : 0;
}

/* Those that the program ignores, a bit each, as far as is known; for handler.c. */
extern _Atomic uint64_t signal_ignored __attribute__((visibility("hidden")));

/* Those that an instruction raises, in a mask of the kernel. They can't wait: one that is blocked
 * ends the process, whatever handler there is. A thread that steps itself by the processor's trap
 * flag gets SIGTRAP in the agent's code, too, one whose stack overflows there SIGSEGV, and one
 * whose filter says so (SECCOMP_RET_TRAP) SIGSYS. */
static inline uint64_t signal_synchronous(void) {
    return signal_bit(SIGTRAP) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |
           signal_bit(SIGFPE) | signal_bit(SIGSYS);
}

/* What the agent blocks while no handler of the application should come between, as a mask of the
 * kernel: all signals that can wait, but for those that are ignored. The kernel drops an ignored
 * signal when it is sent, but not where the thread that it is sent to has it blocked. Then it is
 * queued, and wakes another thread, whose call ends early. A handler of those that can't wait may
 * come all the same, and may leave by a jump: what is done meanwhile is to bear it. Any context. */
static inline uint64_t signal_all(void) {
    return ~(signal_synchronous() | atomic_load_explicit(&signal_ignored, memory_order_relaxed));
}

/* Blocks them in the calling thread, whose mask was *before. False: it is as it was. While the
 * thread may make system calls. */
static inline bool signal_block_all(uint64_t *before) {
    uint64_t all = signal_all();
    return sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, before, KERNEL_SIGSET_BYTES) == 0;
}

/* That is the mask again. The same. */
static inline void signal_put_back(uint64_t before) {
    (void)sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
}

/* A mask that has the signal and not most others: it means this one. Any context. */
bool signal_is_named(const sigset_t *set, int number);
/* The handler of `action` is the agent's. Any context. */
bool signal_is_agents(const struct sigaction *action);

/* What the application would see as the disposition of our signal. */
void signal_hidden_action(struct sigaction *action);

/* The calling thread must be able to get our signal, whatever mask it has inherited. */
void signal_unblock(void);
/* The same at the program's start: what it has inherited as blocked it believes to be blocked. */
void signal_unblock_first(void);
/* What the application believes to be blocked is blocked now; 0: nothing. */
void signal_block_hidden(int number);
/* Around the creation of a thread, which inherits the mask and has no context at first: what its
 * creator believes to be blocked is blocked in earnest meanwhile. Thread context. */
void signal_before_thread(const struct agent_thread *creator);
void signal_after_thread(struct agent_thread *creator);
/* Keeps our signal off while the process forks, so that a storm of them can't starve it. */
void signal_block_for_fork(void);

#endif
