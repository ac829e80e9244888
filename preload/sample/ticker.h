/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ticker.h - one POSIX timer that raises the agent's signal on one thread.
 */
#ifndef HCCT_TICKER_H
#define HCCT_TICKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define SECOND_NS 1000000000ull

struct ticker {
    bool made;
    int id;             /* the kernel's */
    uint64_t period_ns; /* as it runs, 0: it does not */
};

/* The CPU clock of thread `tid` of this process, which another thread may read and use too. */
static inline clockid_t ticker_cpu_clock(pid_t tid) {
    return (clockid_t)((~(unsigned)tid << 3) | 6);
}

/* Makes a timer on `clock` whose signals go to `tid` and carry the ticker's address as their value,
 * so it must stay where it is. False: the kernel refuses (RLIMIT_SIGPENDING). Any context. */
bool ticker_make(struct ticker *ticker, clockid_t clock, int signal, pid_t tid);
/* First expiry after `first_ns` (> 0), then every `period_ns`. Any context. */
void ticker_run(struct ticker *ticker, uint64_t first_ns, uint64_t period_ns);
/* The same, first expiry when its clock shows `at_ns` (> 0): at once when that is over. */
void ticker_run_at(struct ticker *ticker, uint64_t at_ns, uint64_t period_ns);
/* One expiry now, whose signal is pending when this returns, and the next ones every `period_ns`.
 * CPU clocks only. Any context. */
void ticker_fire(struct ticker *ticker, uint64_t period_ns);
/* No more expiries; one that is pending may still arrive. Any context. */
void ticker_halt(struct ticker *ticker);
void ticker_free(struct ticker *ticker);

/* A clock's time. Any context; a system call for CPU clocks. */
uint64_t ticker_now(clockid_t clock);
/* The same, always by a system call: to read the vDSO a child of fork has to be given its pages
 * first.
 */
uint64_t ticker_now_by_call(clockid_t clock);
/* The kernel's tick: the resolution of its CPU timers. Any context. */
uint64_t ticker_resolution(void);

#endif
