/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_machine.h - what of the stubs differs by architecture: their assembly, and what registers
 * say of a call. One file for each.
 *
 * Beside the functions below each of these files has those of sleep.h that it does not have from
 * sleep.c: sleep_find_call, sleep_place and sleep_show.
 */
#ifndef HCCT_SLEEP_MACHINE_H
#define HCCT_SLEEP_MACHINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "preload/wrap/sleep.h"

/* In the order of the list: the assembly makes a section of them. */
extern _Atomic(uintptr_t) sleep_slots[] __attribute__((visibility("hidden")));

/* Called by the stubs. */
void sleep_look_up(_Atomic(uintptr_t) *slot) __attribute__((visibility("hidden"), used));
bool sleep_is_memory(int fd) __attribute__((visibility("hidden"), used));
bool sleep_is_short(const struct timespec *time) __attribute__((visibility("hidden"), used));
void sleep_enter(struct sleep_call *call) __attribute__((visibility("hidden"), used));

/* What a handler needs to know of a call that begins. */
struct announced_call sleep_announced(struct agent_thread *self, const struct sleep_call *call,
                                      uint64_t began_ns);

/* Before a call of function number `which`: it is open from here on if this is true.
 * While the thread may make system calls. */
bool sleep_open_begin(struct sleep_call *call, size_t which);

/* Blocks our signal for a call of function number `which`, up to the end of the stub, unless it is
 * blocked. While the thread may make system calls. */
void sleep_block(struct sleep_call *call, size_t which);

/* The numbers of system calls whose interruption would be seen, a bit each: for the stub of
 * syscall(). */
#define SLEEP_NUMBERS 448
extern const uint64_t sleep_fragile_numbers[SLEEP_NUMBERS / 64]
    __attribute__((visibility("hidden")));

/* Whether that is the address of a slot, or of a call that is being made. */
bool sleep_is_slot(uint64_t address) __attribute__((visibility("hidden")));
bool sleep_is_whole(const struct sleep_call *call) __attribute__((visibility("hidden")));

/* The frames of libc's functions have less. A handler that has interrupted one of them has its
 * frame further down, or on another stack. */
#define SLEEP_FRAMES 512

/* What is above the stack pointer is there, as far as a stack goes. Signal context. */
bool sleep_is_there(uintptr_t at, uintptr_t sp) __attribute__((visibility("hidden")));

/* The call at whose end, between the real function and the end of the stub, the context is; else
 * NULL. Signal context. */
const struct sleep_call *sleep_call_ending(const ucontext_t *uc)
    __attribute__((visibility("hidden")));

/* 1 + the number of the system call that a call of that slot spends its time in. */
uint64_t sleep_system_call(uint64_t slot, uint64_t first_argument)
    __attribute__((visibility("hidden")));

/* libc's syscall(), as a handler can restart it. Not NULL: it takes the place of libc's. */
long (*sleep_syscall(void))(long number, ...) __attribute__((visibility("hidden")));

/* The calls that only this architecture has: poll, select and pause, as libc makes them by others
 * elsewhere. A list of numbers, each followed by a comma. */
#if defined(__x86_64__)
#define SLEEP_OPENS             true /* whether there are open calls: sleep_open.h */
#define SLEEP_POLL              SYS_poll
#define SLEEP_EPOLL_WAIT        SYS_epoll_wait
#define SLEEP_PAUSE             SYS_pause
#define SLEEP_OLD_NUMBERS       SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#define SLEEP_OLD_FRAGILE(word) BIT(SYS_pause, word)
#define SLEEP_OLD_STARTERS      SYS_fork, SYS_vfork,
#else
#define SLEEP_OPENS       false
#define SLEEP_POLL        SYS_ppoll
#define SLEEP_EPOLL_WAIT  SYS_epoll_pwait
#define SLEEP_PAUSE       SYS_ppoll
#define SLEEP_OLD_NUMBERS SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
/* All that the kernel does not make again by itself, as nobody else can; or, of some descriptors,
 * with another time. */
#define SLEEP_OLD_FRAGILE(word)                                                                    \
    (BIT(SYS_ppoll, word) | BIT(SYS_pselect6, word) | BIT(SYS_epoll_pwait, word) |                 \
     BIT(SYS_nanosleep, word) | BIT(SYS_clock_nanosleep, word) | BIT(SYS_futex, word) |            \
     BIT(SYS_semop, word) | BIT(SYS_semtimedop, word) | BIT(SYS_msgrcv, word) |                    \
     BIT(SYS_msgsnd, word) | BIT(SYS_io_getevents, word) | BIT(SYS_io_uring_enter, word) |         \
     BIT(SYS_read, word) | BIT(SYS_readv, word) | BIT(SYS_recvfrom, word) |                        \
     BIT(SYS_recvmsg, word))
#define SLEEP_OLD_STARTERS
#endif

#endif
