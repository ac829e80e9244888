/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_wrap.h - lines of words that fit on a terminal.
 */
#ifndef HCCT_TEXT_WRAP_H
#define HCCT_TEXT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Writes lines, each ended by a newline, broken at spaces where they are wider than `width`; what
 * follows such a break is indented. A word that is wider than a line is broken, too. Escape
 * sequences (ESC [ ... letter) take no columns. width 0: nothing is broken. */
void text_wrap(FILE *out, const char *lines, size_t width, size_t indent);

#endif
