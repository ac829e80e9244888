/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_file.h - a profile from bytes or a file to what people asked to see of it.
 */
#ifndef HCCT_PROFILE_FILE_H
#define HCCT_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/view.h"

/* The whole file, "-" for stdin, into memory that the caller frees. NULL: complained. */
char *profile_file_load(const char *name, size_t *bytes);

/* Reads a profile from memory (format_read()); NULL: complained, with `name` in the sentence. */
struct profile *profile_file_parse(const char *name, const void *data, size_t bytes);
/* The same of one of several metrics; NULL: the first one (read_pprof_metric()). */
struct profile *profile_file_parse_metric(const char *name, const void *data, size_t bytes,
                                          const char *metric);

/* Says which metrics the profile leaves out, where its format has room for one and does not say so.
 */
void profile_file_say_others(const struct profile *profile, const struct format *format);

/* Writes in `format`; with phi > 0, what weighs less than that share is not shown. False with
 * errno set when writing failed. */
bool profile_file_write(FILE *out, const struct profile *profile, const struct format *format,
                        const struct format_options *options, double phi);

#endif
