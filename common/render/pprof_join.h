/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_join.h - profiles of several metrics of one run in one file.
 *
 * Each metric has its sample types, its samples and its comments, which follow the line that names
 * it (pprof_comments.h); a sample has zeros for all others. The first one is shown first.
 */
#ifndef HCCT_PPROF_JOIN_H
#define HCCT_PPROF_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pprof_part {
    const void *data; /* a file that write_pprof wrote */
    size_t bytes;
};

/* Writes the parts, of which no two count the same, as one file. A single one is written as it is.
 * False: `error` says in one sentence why not. */
bool pprof_join(FILE *out, const struct pprof_part *parts, size_t n, char *error,
                size_t error_bytes);

#endif
