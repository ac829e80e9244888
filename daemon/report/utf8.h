/*
 * utf8.h - what the writers need to know of UTF-8.
 */
#ifndef HCCT_UTF8_H
#define HCCT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character at `text` (1 to 4), 0 when it is none. `text` is terminated.
 */
size_t utf8_length(const char *text);

/* Whether all of `text`, terminated and of that length, is well-formed. */
bool utf8_is_valid(const char *text, size_t length);

/* Columns that a valid string takes on a terminal: one for each character. */
size_t utf8_columns(const char *text);

/* Copies, with U+FFFD for each byte that is not part of a character. `out` has room for
 * 3 * strlen(text) + 1. */
void utf8_repair(char *out, const char *text);

#endif
