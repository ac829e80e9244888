/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_maps.h - removes the files of names that a recording has had runtimes write.
 */
#ifndef HCCT_PERF_MAPS_H
#define HCCT_PERF_MAPS_H

#include <sys/types.h>
#include <time.h>

/* Removes /tmp/perf-PID.map of a process that is over, if it is a regular file of our user's and
 * was written since `since` (CLOCK_REALTIME). */
void perf_maps_remove(pid_t pid, const struct timespec *since);

#endif
