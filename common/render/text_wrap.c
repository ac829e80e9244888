/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_wrap.c - one pass over each line that remembers the last space that fitted.
 */
#include "common/render/text_wrap.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/utf8.h"

/* The end of the character, or of the escape sequence, at `at`; *columns is what it takes. */
static const char *next_glyph(const char *at, size_t *columns) {
    if (*at != '\033')
        return at + utf8_measure(at, columns);
    *columns = 0;
    at += at[1] == '[' ? 2 : 1;
    while (*at != '\0' && *at != '\n' && (*at < '@' || *at > '~'))
        at++;
    return *at == '\0' || *at == '\n' ? at : at + 1;
}

/* May a line end before the space at `at`? A number stays with its per cent sign. */
static bool may_break(const char *begin, const char *at) {
    return *at == ' ' && at > begin && at[-1] != ' ' && at[1] != '%';
}

/* Where the line at `at` is to be broken when it has `room` columns; its end when it fits. */
static const char *break_at(const char *at, size_t room) {
    const char *space = NULL, *begin = at, *next;
    size_t taken = 0, columns;

    for (; *at != '\0' && *at != '\n'; at = next) {
        next = next_glyph(at, &columns);
        if (may_break(begin, at))
            space = at;
        taken += columns;
        if (taken > room)
            return space != NULL && space > begin ? space : at;
    }
    return at;
}

static const char *put_line(FILE *out, const char *at, size_t width, size_t indent) {
    size_t end = strcspn(at, "\n"), room = width;
    const char *limit = at + end, *stop;

    if (width <= indent + 1) {
        fwrite(at, 1, end, out);
        return limit;
    }
    while ((stop = break_at(at, room)) < limit) {
        fwrite(at, 1, (size_t)(stop - at), out);
        at = stop + strspn(stop, " ");
        fprintf(out, "\n%*s", (int)indent, "");
        room = width - indent;
    }
    fwrite(at, 1, (size_t)(limit - at), out);
    return limit;
}

void text_wrap(FILE *out, const char *lines, size_t width, size_t indent) {
    while (*lines != '\0') {
        lines = put_line(out, lines, width, indent);
        if (*lines == '\n') {
            fputc('\n', out);
            lines++;
        }
    }
}
