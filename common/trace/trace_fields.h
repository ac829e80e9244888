/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_fields.h - what a trace says of a process: the members of struct profile_process by name.
 *
 * As text: name, NUL, value, NUL, and so on. Members that are 0 or "" are left out, names that are
 * not known are skipped, so that either side may know more members than the other.
 */
#ifndef HCCT_TRACE_FIELDS_H
#define HCCT_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct trace_about {
    struct profile_process process; /* no string is NULL after trace_fields_read */
    uint64_t since_ns;              /* wall clock at its start, since 1970 */
    uint64_t period;                /* weight of one sample as asked for */
    uint64_t duration_ns;
};

/* The text, malloc'ed, filled with NULs to whole words; *words says how many. NULL: no memory. */
uint32_t *trace_fields_write(const struct trace_about *about, size_t *words);

/* False: it is no such text. Strings of `about` point into `text`. */
bool trace_fields_read(struct trace_about *about, const char *text, size_t bytes);

#endif
