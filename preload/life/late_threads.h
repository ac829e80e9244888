/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_threads.h - threads whose beginning the agent has not seen (late.h).
 */
#ifndef HCCT_LATE_THREADS_H
#define HCCT_LATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/attach.h"
#include "preload/life/thread.h"

/* Thread `tid`, which blocks these signals, has a timer from now on, or it is said why not: one
 * that blocks our signal would have it pending, where it can be seen. Any context. */
enum wire_attach_fate late_threads_add(pid_t tid, uint64_t blocked);

/* The calling thread is `owner`, whose timer has raised its signal here. NULL: it is not. Signal
 * context. */
struct agent_thread *late_threads_adopt(struct agent_thread *owner);

/* At a tick: where the number of threads has changed, and now and then, looks who has come or gone.
 * Keeps a descriptor for the time of that. Signal context, inside (confine.h). */
void late_threads_search(void);

/* No thread has a timer any more. Thread context, while no other thread is inside. */
void late_threads_forget(void);

#endif
