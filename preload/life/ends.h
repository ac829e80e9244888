/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ends.h - what threads use of their CPU time after the agent's last reading.
 *
 * libc and the kernel end a thread when nobody can look any more, and so does the agent itself.
 * What that takes is learned from the process's clock, which counts it, so that a thread's end can
 * have its samples beforehand.
 */
#ifndef HCCT_ENDS_H
#define HCCT_ENDS_H

#include <stdint.h>

#include "preload/life/thread.h"

/* The mean of what threads of this process have used after ends_note, as far as it is known; 0
 * until some have ended. Any context. */
uint64_t ends_rest(void);

/* The calling thread ends. Thread context, inside confine_enter. */
void ends_note(struct agent_thread *thread);

#endif
