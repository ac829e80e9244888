/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_pprof.h - GET /debug/pprof/...: what Go's programs serve, for Go's tools and those that
 * know them.
 */
#ifndef HCCT_QUERY_PPROF_H
#define HCCT_QUERY_PPROF_H

#include "daemon/answers/query.h"

#define PPROF_SECONDS     30u /* where the asker says nothing, as in Go */
#define PPROF_SECONDS_MAX 3600u

/* Waits so long, then writes what the processes have gained in that time, as pprof. The client is
 * at the other end of `fd`: when it goes away, so does the question (QUERY_UNAVAILABLE). */
enum query_status query_pprof(const struct query *query, unsigned seconds, int fd, FILE *out,
                              struct query_error *error);

/* What can be had. */
enum query_status query_pprof_index(FILE *out);

/* The command line, words ended by NULs: of the process that is asked for, else hcctd's. */
enum query_status query_pprof_cmdline(const struct query *query, FILE *out,
                                      struct query_error *error);

/* Profiles carry their symbols: there are none to look up by address. */
enum query_status query_pprof_symbol(FILE *out);

#endif
