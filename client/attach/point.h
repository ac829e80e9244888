/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * point.h - whether a thread is where the loader may be called on it.
 *
 * The thread must hold no lock that the loader, or malloc, takes: neither its pc nor any word in
 * the nearest 64 KB of its stack that may be a return address is in their code. Its stack must have
 * room, and it must not be in the middle of what can't be begun again.
 */
#ifndef HCCT_ATTACH_POINT_H
#define HCCT_ATTACH_POINT_H

#include <sys/user.h>

#include "client/attach/code.h"
#include "client/attach/target.h"

enum point {
    POINT_SAFE,
    POINT_DOUBTFUL, /* a word of its stack says that it may hold a lock, which may be a stale one:
                     * walk.h tells */
    POINT_LOCKED,   /* it may hold a lock */
    POINT_NO_ROOM,  /* too little is left of its stack, or it is not known where that ends */
    POINT_FRAGILE,  /* in a call whose interruption would be seen */
    POINT_BUSY,     /* in code that must not be interrupted (rseq), or not 64-bit code */
};

/* Which locks matter: none but what the agent's own code is in the middle of, where only its
 * function is called. */
enum point_care { POINT_OWN_CODE, POINT_ALL_CODE };

/* A thread that sleeps, which is left alone. */
enum point point_asleep(const struct code *code, const struct target *target,
                        const struct target_sleep *where, enum point_care care);
/* Its call would end with EINTR, and is made again (point_again): others are better. */
bool point_is_repeated(const struct target_sleep *where);
/* Only the kernel knows what is left of its sleep: to load something on it takes more stops
 * (call.h). */
bool point_is_timed(const struct target_sleep *where);
/* It may be in the middle of loading an object. */
bool point_in_loader(const struct code *code, const struct target *target,
                     const struct target_sleep *where);
/* One that is stopped, with the registers that it has. */
enum point point_stopped(const struct code *code, const struct target *target, pid_t tid,
                         const struct user_regs_struct *regs, enum point_care care);

/* A handler of the application is about to interrupt the thread. */
bool point_signal_is_due(const struct target *target, pid_t tid);

/* The stop has met it in a system call that can be made again (waits.h); `*on`: waits_on_socket. */
bool point_waits(const struct user_regs_struct *regs, int *on);

/* The registers to go on with, where the stop has ended a system call that the kernel does not
 * begin again by itself, and which no handler of the application is about to interrupt: it is made
 * again. */
void point_again(const struct target *target, pid_t tid, struct user_regs_struct *regs);

#endif
