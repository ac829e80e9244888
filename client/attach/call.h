/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call.h - functions are called on a stopped thread, as the kernel calls a signal's handler.
 *
 * On the thread's stack lies a frame as of a signal, below what the thread may be using there, and
 * the functions return into it: to the kernel, which gives the thread back all that it had. So it
 * goes on as it was also when the caller is killed in the middle, or gives up waiting. Where all
 * goes well the kernel is stopped on its way, and all is put back from here: what a frame can't
 * hold, too (a system call that was interrupted, errno). No code is changed. Signals are blocked
 * meanwhile, but for faults.
 *
 * The thread says that a function is over by a signal to itself, the bell: one that is ignored by
 * default and has no handler, so that it does nothing if nobody traces the thread any more.
 */
#ifndef HCCT_ATTACH_CALL_H
#define HCCT_ATTACH_CALL_H

#include <sys/user.h>

#include "client/attach/code.h"
#include "client/attach/stop.h"
#include "client/attach/target.h"

#define CALL_XSTATE_MAX 16384

struct call {
    struct stop *stop;
    const struct target *target;
    const struct code *code;
    struct user_regs_struct regs; /* to go on with */
    unsigned char xstate[CALL_XSTATE_MAX];
    size_t xstate_bytes;
    uint64_t mask;
    uint64_t frame, room; /* on its stack: the frame; the bytes above it for arguments */
    uint64_t detour;      /* below it: a frame that rings the bell before, 0: there is none */
    int bell;             /* a signal that nobody has a handler for, 0: none */
    bool has_rung;        /* where it stands now */
    uint64_t errno_at;
    int errno_was;
    uint64_t result; /* of the last system call before the function returned */
    bool runs;       /* it was not stopped again in time */
};

enum called { CALLED, CALLED_FAULT, CALLED_GONE, CALLED_LATE };

/* How it is known that a function is over. Each stop costs the thread its place among those that
 * wait for a processor. */
enum call_way {
    CALL_STEPS,  /* the thread is stopped at each system call */
    CALL_RINGS,  /* the function sends the bell to its thread at its end */
    CALL_DETOUR, /* the frame has it sent when the function returns, where that can be */
};

/* The thread is stopped at a safe point. `room`: bytes for what functions are given. False: nothing
 * has changed. */
bool call_begin(struct call *call, struct stop *stop, const struct target *target,
                const struct code *code, const struct user_regs_struct *regs, size_t room,
                int bell);
/* CALLED: it has returned. CALLED_LATE: it has not, in time; only call_abandon may follow. */
enum called call_function(struct call *call, enum call_way way, uint64_t function,
                          const uint64_t argument[3], uint64_t deadline_ns);
/* The thread is as it was, and is stopped still. `is_back`: the last function has returned; else it
 * ended with a fault. */
bool call_end(struct call *call, bool is_back);
/* It gets so far by itself when the function returns, and is let go. */
void call_abandon(struct call *call);

#endif
