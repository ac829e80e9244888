/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * clock.h - the kernel's clocks in whole nanoseconds. Any context.
 */
#ifndef HCCT_CLOCK_H
#define HCCT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND 1000000000u

static inline uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CLOCK_SECOND + (uint64_t)now.tv_nsec;
}

/* Of the monotonic clock. */
static inline uint64_t clock_now(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* The same in whole seconds. */
static inline time_t clock_seconds(void) {
    return (time_t)(clock_now() / CLOCK_SECOND);
}

#endif
