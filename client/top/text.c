/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text.c - characters by their width; names by shorten().
 *
 * Names come from other people's programs. What could move the cursor, change the order of what
 * stands beside it, or has no width of its own does not reach the terminal.
 */
#include "client/top/text.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/base/shorten.h"
#include "common/base/utf8.h"

static bool is_utf8(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const struct top_glyphs *top_glyphs(void) {
    static const struct top_glyphs unicode = {
        .branch = "├─",
        .last = "└─",
        .pass = "│ ",
        .none = "  ",
        .open = "▾ ",
        .folded = "▸ ",
        .leaf = "· ",
        .gap = "…",
        .cut = "«",
        .rule = "│",
        .times = "×",
        .plus_minus = "±",
    };
    static const struct top_glyphs ascii = {
        .branch = "|-",
        .last = "`-",
        .pass = "| ",
        .none = "  ",
        .open = "- ",
        .folded = "+ ",
        .leaf = "  ",
        .gap = "...",
        .cut = "<",
        .rule = "|",
        .times = "x",
        .plus_minus = "+-",
    };
    return is_utf8() ? &unicode : &ascii;
}

void top_line_begin(struct top_line *line, unsigned limit) {
    line->text[0] = '\0';
    line->used = line->columns = 0;
    line->limit = limit;
}

/* Bytes of the character at `text`, and the columns that it takes; 0 columns: it can't be shown. */
static size_t measure(const char *text, bool utf8, unsigned *columns) {
    size_t bytes = utf8_length(text);
    *columns = 0;
    if (bytes == 0)
        return 1;
    if (bytes == 1)
        *columns = (unsigned char)*text >= ' ' && *text != 0x7f;
    else if (utf8) {
        int width = wcwidth((wchar_t)utf8_decode(text, bytes));
        *columns = width > 0 ? (unsigned)width : 0;
    }
    return bytes;
}

void top_line_add(struct top_line *line, const char *text) {
    bool utf8 = is_utf8();
    while (*text != '\0') {
        unsigned columns;
        const char *shown = text;
        size_t bytes = measure(text, utf8, &columns), shown_bytes = bytes;
        text += bytes;
        if (columns == 0) {
            shown = "?";
            shown_bytes = columns = 1;
        }
        if ((line->limit > 0 && line->columns + columns > line->limit) ||
            line->used + shown_bytes >= sizeof line->text)
            return;
        memcpy(line->text + line->used, shown, shown_bytes);
        line->used += shown_bytes;
        line->columns += columns;
        line->text[line->used] = '\0';
    }
}

void top_line_print(struct top_line *line, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    top_line_add(line, text);
}

void top_line_pad(struct top_line *line, unsigned column) {
    while (line->columns < column && line->used + 1 < sizeof line->text &&
           (line->limit == 0 || line->columns < line->limit))
        top_line_add(line, " ");
}

/* Columns that the text takes as top_line_add shows it. */
static unsigned columns_of(const char *text) {
    bool utf8 = is_utf8();
    unsigned sum = 0, columns;
    while (*text != '\0') {
        text += measure(text, utf8, &columns);
        sum += columns > 0 ? columns : 1;
    }
    return sum;
}

/* shorten() counts characters; where some are wide, it is asked for fewer. */
void top_line_name(struct top_line *line, const char *name, unsigned columns) {
    unsigned client = columns;
    char *text = shorten(name, client, top_glyphs()->gap);
    while (columns > 0 && client > 1 && columns_of(text) > columns) {
        unsigned over = columns_of(text) - columns;
        client -= over / 2 + 1 < client ? over / 2 + 1 : client - 1;
        free(text);
        text = shorten(name, client, top_glyphs()->gap);
    }
    top_line_add(line, text);
    free(text);
}

void top_line_indent(struct top_line *line, const struct top_row *row, unsigned columns) {
    const struct top_glyphs *glyphs = top_glyphs();
    unsigned first = 1, levels = row->level, room = columns / 2;
    bool is_cut = columns > 0 && levels + 1 > room;
    if (is_cut) { /* the outer levels go */
        unsigned kept = room > 2 ? room - 2 : 0;
        first = levels - kept + 1;
        top_line_print(line, "%s ", glyphs->cut);
    }
    for (unsigned level = first; level <= levels; level++) {
        if (level == levels && !row->lone)
            top_line_add(line, row->last ? glyphs->last : glyphs->branch);
        else
            top_line_add(line, row->bars >> level & 1 ? glyphs->pass : glyphs->none);
    }
    top_line_add(line, row->leaf ? glyphs->leaf : row->open ? glyphs->open : glyphs->folded);
}
