/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * utf8.h - names in UTF-8: their characters, their columns, what of them may be printed.
 */
#ifndef HCCT_UTF8_H
#define HCCT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed character at `text` (1 to 4), 0 when it is none. `text` is terminated.
 */
size_t utf8_length(const char *text);

/* Whether all of `text`, terminated and of that length, is well-formed. */
bool utf8_is_valid(const char *text, size_t length);

/* The character at `text`, of so many bytes (1 to 4) in well-formed UTF-8. */
uint32_t utf8_decode(const char *text, size_t bytes);

/* Bytes of the character at `text`, which is not its end and well-formed, and the columns that it
 * takes on a terminal: 2 for wide ones, 0 for what joins the one before; 1 where the locale
 * (LC_CTYPE) does not know it. */
size_t utf8_measure(const char *text, size_t *columns);

/* Columns that a valid string takes. */
size_t utf8_columns(const char *text);

/* Bytes of the character at `text` when a terminal shows it as a character. 0: it is no character,
 * a control character, or one that is invisible or changes the order of others. `text` is
 * terminated and not at its end. */
size_t utf8_printable(const char *text);

/* Whether all of `text` is printable. */
bool utf8_is_printable(const char *text);

/* Makes a string printable in its place: a space for each character that is not, a question mark
 * for each byte that is no part of a character. It gets no longer. */
void utf8_clean(char *text);

/* Copies what there is room for, `bytes` with its end, and cleans that. */
void utf8_copy_clean(char *text, size_t bytes, const char *from);

/* Writes a string to a stream as utf8_clean() makes it. */
void utf8_put(FILE *out, const char *text);

/* Copies, with U+FFFD for each byte that is not part of a character. `out` has room for
 * 3 * strlen(text) + 1. */
void utf8_repair(char *out, const char *text);

#endif
