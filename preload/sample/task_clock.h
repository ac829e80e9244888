/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * task_clock.h - the kernel's task clock event as a timer of CPU time, where perf_event_open allows
 * it.
 *
 * It is served by a high-resolution timer, and stands still while the thread sleeps, waits for a
 * processor, or is switched. Its price is a descriptor for each thread, which is why the user must
 * ask for it (HCCT_CLOCK=perf). The descriptor is moved to the far end of the table, out of the way
 * of the application's own; one that the application closes all the same is not touched any more.
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

/* An event on the calling thread that raises `signal` on it, once task_clock_run() has set it. The
 * signal comes with si_code POLL_IN and si_fd. False: not allowed, as it would not count in the
 * kernel, or no descriptor is free. Any context, on thread `tid` itself. */
bool task_clock_open(struct task_clock *clock, int signal, int tid);
/* The next signal comes after `ns` (> 0) of the thread's CPU time, at least 10 us, and later ones
 * as far apart, until this is called again. False: the application has closed the descriptor. Any
 * context. */
bool task_clock_run(struct task_clock *clock, uint64_t ns);
/* The descriptor still is the event. Any context. */
bool task_clock_is_there(const struct task_clock *clock);
/* Closes the descriptor if it still is the event. Any context. */
void task_clock_close(struct task_clock *clock);

#endif
