/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark_lines.h - moments that programs have marked (hcct.h), as a profile has them: a line for
 * each, with its time, the process and the name, oldest first:
 *
 *   1764270618.250000000 4711 work begins
 */
#ifndef HCCT_MARK_LINES_H
#define HCCT_MARK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mark_line {
    uint64_t time_ns; /* since 1970 */
    uint32_t pid;
    char name[64]; /* printable; longer ones are cut */
};

void mark_line_put(FILE *out, const struct mark_line *mark);

/* Reads the line at *text, which goes behind it. False: there is none, or it is no such line. */
bool mark_line_next(const char **text, struct mark_line *mark);

#endif
