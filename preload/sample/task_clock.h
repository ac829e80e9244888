/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * task_clock.h - the kernel's task clock event as a trigger, where perf_event_open allows it.
 *
 * It counts a thread's CPU time like the CPU timer, is served by a high-resolution timer and so is
 * as fine as one likes, and never meets a sleeping thread. Its price is a descriptor for each
 * thread, which is why the user must ask for it (HCCT_CLOCK=perf). The descriptor is moved to the
 * far end of the table, out of the way of the application's own; one that the application closes
 * all the same is not touched any more.
 */
#ifndef HCCT_TASK_CLOCK_H
#define HCCT_TASK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct task_clock {
    bool open;
    int fd;
    uint64_t
        id; /* the kernel's name of the event: tells it from what may have come to that number */
};

/* An event on the calling thread that raises `signal` on it each `period_ns` of its CPU time, from
 * now on. The signal comes with si_code POLL_IN and si_fd. False: not allowed, or no descriptor is
 * free. Any context, on thread `tid` itself. */
bool task_clock_open(struct task_clock *clock, int signal, int tid, uint64_t period_ns);
/* Closes the descriptor if it still is the event. Any context. */
void task_clock_close(struct task_clock *clock);

#endif
