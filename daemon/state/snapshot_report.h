/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot_report.h - what one file of the report directory has.
 */
#ifndef HCCT_SNAPSHOT_REPORT_H
#define HCCT_SNAPSHOT_REPORT_H

#include <stdio.h>

#include "daemon/answers/query.h"

/* Of n processes in a row, how many from the first on are metrics of one and have one file: 1 where
 * the format has room for one. They are put in the order in which they were asked for. */
size_t snapshot_report_metrics(const struct query *query, struct process **processes, size_t n);

/* Writes the report of that many to `out`. Jobs' threads, no lock of theirs held but the
 * snapshots'. */
enum query_status snapshot_report_write(const struct query *query, struct process *const *processes,
                                        size_t n, FILE *out, struct query_error *error);

#endif
