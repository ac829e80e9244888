/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * terminal.h - is the terminal good enough for a screen?
 */
#ifndef HCCT_TOP_TERMINAL_H
#define HCCT_TOP_TERMINAL_H

#include <stdbool.h>

/* TERM names a terminal that is known, and whose cursor can be moved. Writes nothing. */
bool top_terminal_is_screen(void);

#endif
