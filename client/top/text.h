/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text.h - text that a terminal can show and does not obey, by the columns that it takes.
 *
 * LC_CTYPE decides what can be shown. Any thread, once the locale is set.
 */
#ifndef HCCT_TOP_TEXT_H
#define HCCT_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "client/top/rows.h"
#include "common/wire/compiler.h"

struct top_glyphs {
    const char *branch, *last, *pass, *none; /* two columns each */
    const char *open, *folded, *leaf;        /* two */
    const char *gap;                         /* for what a name was cut by */
    const char *cut;                         /* one: indentation that did not fit */
    const char *rule;                        /* one: between groups of columns */
    const char *times, *plus_minus;
};

/* UTF-8 where the locale has it, else ASCII. */
const struct top_glyphs *top_glyphs(void);

/* A line of text that is put together piece by piece, never longer than it may be. */
struct top_line {
    char text[2048];
    size_t used;      /* bytes */
    unsigned columns; /* taken */
    unsigned limit;   /* columns that there are; 0: as many as are needed */
};

void top_line_begin(struct top_line *line, unsigned limit);
/* Adds text: control characters and what the locale does not know become '?', what does not fit is
 * left out. */
void top_line_add(struct top_line *line, const char *text);
hcct_printf(2, 3) void top_line_print(struct top_line *line, const char *format, ...);
/* Blanks up to a column. */
void top_line_pad(struct top_line *line, unsigned column);
/* Adds a function's name, shortened to `columns` (0: not at all), the least telling parts first. */
void top_line_name(struct top_line *line, const char *name, unsigned columns);

/* The part of a row before its name: indentation and fold mark, in at most `columns` (0: any). */
void top_line_indent(struct top_line *line, const struct top_row *row, unsigned columns);

#endif
