/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_comments.h - what pprof has no field for, as comments that people and our reader can read.
 *
 *   hcct: profile 2 phi=0.0001 epsilon=2e-05 summary=lazy-space-saving
 *   hcct: process 1 command=sqlite3 exe=/usr/bin/sqlite3 pid=812 runs=1 ...
 *
 *   hcct: mark 1764270618.250000000 4711 work begins
 *
 * Where there are several metrics, what follows this up to the next such line is of that one:
 *
 *   hcct: metric inuse_space period=524288
 *
 * The number after "profile" is the version of this notation and of what counts mean: in version 1
 * they were upper bounds, from 2 on they are certain. A value with a space, a quote, a
 * backslash or a control character stands in quotes, escaped as in C. A number that is 0 is left
 * out; a reader skips keys that it does not know.
 */
#ifndef HCCT_PPROF_COMMENTS_H
#define HCCT_PPROF_COMMENTS_H

#include <stdbool.h>

#include "common/profile/mark_lines.h"
#include "common/profile/profile.h"

/* The comments; free() gives each back. */
char *comment_profile(const struct profile *profile);
char *comment_process(const struct profile *profile, uint32_t process);

/* Takes one comment into the profile, and the version from that of the profile; false: it is none
 * of ours, or damaged. */
bool comment_read(struct profile *profile, const char *comment, int *version);

/* That of a mark; free() gives it back. */
char *comment_mark(const struct mark_line *mark);
/* False: it is none of these. */
bool comment_read_mark(const char *comment, struct mark_line *mark);

/* What a comment begins that is of one of several metrics. */
struct comment_metric {
    char type[64]; /* of its weights: longer ones are cut */
    uint64_t period;
};

/* The comment; free() gives it back. */
char *comment_metric(const struct comment_metric *metric);
/* False: it is none of these. */
bool comment_read_metric(const char *comment, struct comment_metric *metric);

/* The label that tells the samples of a process: its command, and "#number" behind it when an
 * earlier process has the same command and pid. free() gives it back. */
char *comment_process_label(const struct profile *profile, uint32_t process);

#endif
