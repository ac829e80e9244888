/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_threads.h - the threads of the profiled processes, as JSON.
 */
#ifndef HCCT_QUERY_THREADS_H
#define HCCT_QUERY_THREADS_H

#include "daemon/answers/query.h"

/* GET /v1/threads: of the processes that are asked for,
 *
 *   threads: [{pid, tid, name, state, cpu_ns, credited_ns, walks, complete, lost, agent_ns}]
 *   ended:   [{pid, exe, threads, credited_ns, walks, complete, lost, agent_ns}]
 *
 * `threads` are those that are profiled now; what the threads of a process that are gone have done
 * together is its entry of `ended`. QUERY_NOT_FOUND: no process is meant, and `error` says so. */
enum query_status query_threads(const struct query *query, FILE *out, struct query_error *error);

#endif
