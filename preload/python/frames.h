/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frames.h - the functions of Python that a thread executes, by the frames of its own
 * PyThreadState.
 *
 * The interpreter's loop is one native frame for all functions that it has entered without leaving
 * C: a run. Each run has something of its own on the stack, which the chain of its frames leads to;
 * so a run belongs to the native frame around that address, whatever its code is called. Only what
 * is the thread's own is followed, so that it does not matter who has the GIL. A signal may come in
 * the middle of a change: a chain counts as far as it makes sense.
 *
 * Whether memory is there to be read is tried by system calls, which are most of what a chain
 * costs. They are spared where a frame is as the last walk found it, by the address, the caller and
 * the code object: a frame that is at work holds its code object, and its caller. The innermost
 * one, those that have changed, and the first one behind them, which may be what a change has not
 * got to yet, are tried each time.
 */
#ifndef HCCT_PYTHON_FRAMES_H
#define HCCT_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

struct python_chain {
    uint32_t functions; /* thread->python->found[0..functions) */
    uint32_t runs;      /* native frames that they stand in */
    uint32_t steps;     /* frames that were read, whatever came of it, ... */
    uint32_t again;     /* ... of which so many were as before */
    bool missed;        /* it did not make sense up to its end */
};

/* Of a thread whose memo has its stack; a thread that is none of Python's has none. Signal
 * context. */
struct python_chain python_frames(struct agent_thread *thread);

#endif
