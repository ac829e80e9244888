/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * diff_output.h - a comparison in the formats that it has.
 */
#ifndef HCCT_DIFF_OUTPUT_H
#define HCCT_DIFF_OUTPUT_H

#include "client/view.h"
#include "common/profile/diff.h"

/* False: a comparison can't be written in this format, complained. */
bool diff_output_has(const struct format *format);

/* Writes it to a file, NULL: stdout. `all`: also what is within its error. Returns an exit status;
 * complained unless HCCT_EXIT_OK. */
int diff_output(const struct diff *diff, const struct view *view, const char *file, bool all);

#endif
