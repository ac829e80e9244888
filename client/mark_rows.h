/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark_rows.h - moments that programs have marked, as a table on stdout.
 */
#ifndef HCCT_MARK_ROWS_H
#define HCCT_MARK_ROWS_H

#include <stdint.h>

void mark_rows_head(void);

/* `seconds`: since 1970. Texts may be anything. */
void mark_row(double seconds, uint64_t pid, const char *program, const char *name);

/* On stderr, behind the rows: that so many more were set, and lost. */
void mark_rows_lost(uint64_t lost);

#endif
