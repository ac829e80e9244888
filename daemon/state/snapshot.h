/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * snapshot.h - reports of live processes as files.
 */
#ifndef HCCT_SNAPSHOT_H
#define HCCT_SNAPSHOT_H

#include "daemon/answers/query.h"

/* Writes one report for each live process that the query asks for into the report directory, which
 * must be ours (own_directory.h): to a temporary name, then renamed, so that a reader never sees
 * half of one. Names each file through `written`. Of a part of the time, metrics that have none are
 * left out; it is an error if there are no others. */
struct snapshot_files {
    void (*written)(void *arg, const char *path);
    void *arg;
    char left_out[128]; /* on return: the names of such metrics, "heap, calls" */
};

enum query_status snapshot_write(const struct query *query, struct snapshot_files *files,
                                 struct query_error *error);

#endif
