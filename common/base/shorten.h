/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shorten.h - names of functions that fit into a column.
 */
#ifndef HCCT_SHORTEN_H
#define HCCT_SHORTEN_H

#include <stddef.h>

/* The name for a line of text: what must not be printed becomes spaces, and what does not fit into
 * `max` columns goes, the least telling first: parameters, then template arguments from the
 * innermost out, then the middle. `gap` stands where something was ("..."). max 0: any length.
 * free() gives the name back. */
char *shorten(const char *name, size_t max, const char *gap);

#endif
