/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * busy.h - work that takes CPU time, the same on each call.
 */
#ifndef HCCT_TEST_BUSY_H
#define HCCT_TEST_BUSY_H

#include <time.h>

static inline void busy(long steps) {
    static volatile unsigned long sink;
    for (long i = 0; i < steps; i++)
        sink = sink + (unsigned long)i;
}

/* Until this thread has used so much more CPU time. */
static inline void busy_ms(long ms) {
    struct timespec now, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    end.tv_nsec += ms % 1000 * 1000000;
    end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do {
        busy(10000);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

#endif
