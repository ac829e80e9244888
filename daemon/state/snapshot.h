/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot.h - reports of live processes as files.
 */
#ifndef HCCT_SNAPSHOT_H
#define HCCT_SNAPSHOT_H

#include "daemon/answers/query.h"

/* Writes one report for each live process that the query asks for into the report directory, which
 * must be ours (own_directory.h): to a temporary name, then renamed, so that a reader never sees
 * half of one. Names each file through
 * `written`. */
typedef void snapshot_written(void *arg, const char *path);
enum query_status snapshot_write(const struct query *query, snapshot_written *written, void *arg,
                                 struct query_error *error);

#endif
