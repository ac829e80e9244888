/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ticker.c - timer_create and friends, by raw system calls: libc's own keep state.
 */
#include "preload/sample/ticker.h"

#include <signal.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "preload/life/sys.h"
#include "preload/wrap/libc.h"

bool ticker_make(struct ticker *ticker, clockid_t clock, int signal, pid_t tid) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = ticker;
    event._sigev_un._tid = tid;
    ticker->period_ns = 0;
    ticker->made = sys3(SYS_timer_create, clock, &event, &ticker->id) == 0;
    return ticker->made;
}

static struct timespec to_timespec(uint64_t ns) {
    return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

static void set(struct ticker *ticker, int flags, uint64_t first_ns, uint64_t period_ns) {
    struct itimerspec when = {.it_value = to_timespec(first_ns),
                              .it_interval = to_timespec(period_ns)};
    if (!ticker->made)
        return;
    ticker->period_ns = period_ns;
    sys4(SYS_timer_settime, ticker->id, flags, &when, 0);
}

void ticker_run(struct ticker *ticker, uint64_t first_ns, uint64_t period_ns) {
    set(ticker, 0, first_ns, period_ns);
}

void ticker_run_at(struct ticker *ticker, uint64_t at_ns, uint64_t period_ns) {
    set(ticker, TIMER_ABSTIME, at_ns, period_ns);
}

/* The kernel fires a CPU timer whose time has passed when it is set, without waiting for its tick.
 */
void ticker_fire(struct ticker *ticker, uint64_t period_ns) {
    set(ticker, TIMER_ABSTIME, 1, period_ns);
}

void ticker_halt(struct ticker *ticker) {
    if (ticker->period_ns != 0)
        set(ticker, 0, 0, 0);
}

/* A tick may come in the middle of this, and find that it was the last one. */
void ticker_free(struct ticker *ticker) {
    if (ticker->made && __atomic_exchange_n(&ticker->made, false, __ATOMIC_ACQ_REL))
        sys1(SYS_timer_delete, ticker->id);
    ticker->period_ns = 0;
}

static uint64_t to_ns(const struct timespec *time) {
    return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

uint64_t ticker_now_by_call(clockid_t clock) {
    struct timespec now = {0, 0};
    sys2(SYS_clock_gettime, clock, &now);
    return to_ns(&now);
}

/* The vDSO has clocks of real time. CPU time takes a system call in any case. */
hcct_hot uint64_t ticker_now(clockid_t clock) {
    struct timespec now = {0, 0};
    if (clock < 0 || clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID)
        return ticker_now_by_call(clock);
    libc_clock_gettime(clock, &now);
    return to_ns(&now);
}

uint64_t ticker_resolution(void) {
    static _Atomic uint64_t tick;
    if (tick == 0) {
        struct timespec resolution = {0, 0};
        sys2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &resolution);
        tick = resolution.tv_nsec > 0 ? (uint64_t)resolution.tv_nsec : SECOND_NS / 250;
    }
    return tick;
}
