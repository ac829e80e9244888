/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_logs.h - removes the logs that node leaves where it runs when it is to name its code:
 * --perf-basic-prof has V8 write isolate-0x...-PID-v8.log, one for each isolate, and no option that
 * may be in NODE_OPTIONS puts it elsewhere.
 */
#ifndef HCCT_NODE_LOGS_H
#define HCCT_NODE_LOGS_H

#include <sys/types.h>
#include <time.h>

/* Removes those of a process that is over from the directory that we are in, where they are regular
 * files of our user's and were written since `since` (CLOCK_REALTIME). */
void node_logs_remove(pid_t pid, const struct timespec *since);

#endif
