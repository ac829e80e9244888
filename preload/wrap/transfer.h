/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transfer.h - what is left of a transfer that our signal has cut short.
 *
 * A call that writes to a pipe or a socket waits until it has written all, unless a signal comes:
 * it ends with what it has written by then. So does a read of memory (/dev/zero). Here the rest of
 * it is made, as the kernel would have gone on: a handler of the application that runs meanwhile
 * ends it, an error of a socket is left to the next call and raises no SIGPIPE, and a socket's time
 * (SO_SNDTIMEO) counts from the beginning.
 */
#ifndef HCCT_TRANSFER_H
#define HCCT_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/wrap/sleep.h"

/* Of a kind of sleep_list.h. */
struct transfer {
    const struct sleep_call *call;
    int kind;
    int flags;     /* of send and its like, else 0 */
    uint64_t done; /* bytes */
};

/* Is something left that a signal may have cut? `done` is what the call has resulted in. Thread
 * context, while the thread may make system calls; keeps errno. */
bool transfer_is_cut(const struct transfer *transfer);
/* Others that write to a terminal wait for the end of the call: its parts may come between theirs.
 */
bool transfer_is_terminal(int fd);
/* Makes the rest: returns all bytes that are done then. It may be left by a cancellation of its
 * thread. Thread context, with our signal blocked; errno is spoilt. */
uint64_t transfer_finish(struct transfer *transfer);

#endif
