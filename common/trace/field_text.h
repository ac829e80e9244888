/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * field_text.h - fields as text: name, NUL, value, NUL, and so on, filled with NULs to whole words.
 */
#ifndef HCCT_FIELD_TEXT_H
#define HCCT_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What put(out, about) writes, malloc'ed; *words says how many words. NULL: no memory. */
uint32_t *field_text_write(void (*put)(FILE *out, const void *about), const void *about,
                           size_t *words);
void field_text_put(FILE *out, const char *name, const char *value);
/* Not if it is 0. */
void field_text_put_number(FILE *out, const char *name, uint64_t number);

/* Calls take(about, name, value) for each field, which point into `text`. False: it is no such
 * text, or take() said so. */
bool field_text_read(const char *text, size_t bytes,
                     bool (*take)(void *about, const char *name, const char *value), void *about);
/* False: the value is no number. */
bool field_text_number(const char *value, uint64_t *number);

#endif
