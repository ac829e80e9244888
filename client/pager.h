/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pager.h - text for a terminal that is longer than the terminal.
 */
#ifndef HCCT_PAGER_H
#define HCCT_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/* Will text on standard output be shown on a terminal? */
bool pager_is_wanted(void);

/* Writes to standard output, which is a terminal: through $PAGER, or less, when the text has more
 * lines than the terminal, and there is such a program. False: it could not be written,
 * complained. */
bool pager_show(const char *text, size_t bytes);

#endif
