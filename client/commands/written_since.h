/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * written_since.h - whether a file was written since a moment, as clocks of file systems are as
 * coarse as the kernel's ticks.
 */
#ifndef HCCT_WRITTEN_SINCE_H
#define HCCT_WRITTEN_SINCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define WRITTEN_SINCE_COARSE_NS 20000000

/* `at`: of the file; both of CLOCK_REALTIME. */
static inline bool written_since(const struct timespec *at, const struct timespec *since) {
    int64_t seconds = (int64_t)at->tv_sec - since->tv_sec;
    return seconds > 1 ||
           (seconds >= -1 &&
            seconds * 1000000000 + at->tv_nsec - since->tv_nsec + WRITTEN_SINCE_COARSE_NS >= 0);
}

#endif
