/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stop.h - one thread of another process is stopped, and goes on as it was.
 *
 * The tracer should be a process of its own that ends soon: the kernel lets all go that its tracer
 * leaves behind, also one that was never caught.
 */
#ifndef HCCT_ATTACH_STOP_H
#define HCCT_ATTACH_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STOP_SIGNALS_MAX 8

struct stop {
    pid_t pid, tid;
    siginfo_t
        later[STOP_SIGNALS_MAX]; /* signals that have arrived meanwhile and can't be blocked */
    unsigned n_later;
    int bell;   /* a signal that it sends to itself, 0: none */
    bool calls; /* it runs what we have put there, no more the application */
};

enum stopped {
    STOPPED_HERE,
    STOPPED_BELL, /* it has sent itself that signal, which it never gets */
    STOPPED_CALL, /* at the entry or exit of a system call */
    STOPPED_FAULT,
    STOPPED_GONE, /* the thread has ended */
    STOPPED_NOT,  /* within the time */
};

/* Once, in the process that stops threads: its SIGALRM is used to keep deadlines. */
void stop_prepare(void);

/* STOPPED_HERE: the thread stands still; stop_release must follow. STOPPED_NOT: the caller should
 * end. */
enum stopped stop_thread(struct stop *stop, pid_t pid, pid_t tid, uint64_t deadline_ns);
/* It runs what was put there to the next thing that is worth knowing: of system calls, where
 * `calls`. Signals that can't be blocked are kept for later. */
enum stopped stop_run(struct stop *stop, bool calls, uint64_t deadline_ns);
/* Makes a thread that runs, or is about to, stop. */
bool stop_interrupt(const struct stop *stop);
enum stopped stop_wait(struct stop *stop, uint64_t deadline_ns);
/* It goes on by itself, with the signals that were kept. */
void stop_release(const struct stop *stop);

#endif
