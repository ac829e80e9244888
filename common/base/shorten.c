/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shorten.c - names of functions that fit into a column.
 *
 * Demangled C++ and Rust names are nested brackets. `operator<`, `operator->` and the arrow of a
 * trailing return type are no brackets; a name whose brackets don't match is only cut in the
 * middle.
 */
#include "common/base/shorten.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"

#define MAX_NESTING 64

/* Is the angle at `at` part of an operator's name or of an arrow? */
static bool is_operator(const char *name, const char *at) {
    static const char word[] = "operator";
    const char *begin = at;
    if (*at == '>' && at > name && (at[-1] == '-' || at[-1] == '='))
        return true;
    while (begin > name && strchr("<>=-", begin[-1]) != NULL)
        begin--;
    return begin - name >= (long)strlen(word) &&
           strncmp(begin - strlen(word), word, strlen(word)) == 0 && at - begin < 3;
}

/* How deep the brackets nest; -1 when they don't match. */
static int nesting(const char *name, char open, char close) {
    int depth = 0, deepest = 0;
    for (const char *at = name; *at != '\0'; at++) {
        if ((*at != open && *at != close) || (open == '<' && is_operator(name, at)))
            continue;
        depth += *at == open ? 1 : -1;
        if (depth < 0 || depth > MAX_NESTING)
            return -1;
        if (depth > deepest)
            deepest = depth;
    }
    return depth == 0 ? deepest : -1;
}

/* The name with `gap` for what is inside brackets of that level (1 is outermost). */
static char *without_level(const char *name, char open, char close, int level, const char *gap) {
    char *out = memory_new(strlen(name) * (strlen(gap) + 1) + 1, 1, "a name"), *to = out;
    int depth = 0;
    for (const char *at = name; *at != '\0'; at++) {
        bool bracket = (*at == open || *at == close) && !(open == '<' && is_operator(name, at));
        if (bracket && *at == close)
            depth--;
        if (depth < level)
            *to++ = *at;
        if (bracket && *at == open) {
            depth++;
            if (depth == level && at[1] != close)
                to = stpcpy(to, gap);
        }
    }
    return out;
}

static bool fits(const char *name, size_t max) {
    return utf8_columns(name) <= max;
}

/* Where the first so many columns end; a character that is partly within them is not, or with
 * `whole`, is. */
static const char *skip_columns(const char *text, size_t columns, bool whole) {
    size_t wide, taken = 0;

    while (*text != '\0' && taken < columns) {
        size_t bytes = utf8_measure(text, &wide);
        taken += wide;
        if (taken > columns && !whole)
            break;
        text += bytes;
    }
    return text;
}

/* The first and the last columns of the name; its end (the function proper) is worth more. */
static char *without_middle(const char *name, size_t max, const char *gap) {
    char *out = memory_new(strlen(name) + strlen(gap) + 1, 1, "a name"), *to = out;
    size_t columns = utf8_columns(name), gap_columns = utf8_columns(gap), head, tail;
    const char *end;
    if (max <= gap_columns)
        gap_columns = 0, gap = "";
    tail = (max - gap_columns) * 3 / 5;
    head = max - gap_columns - tail;
    end = skip_columns(name, head, false);
    memcpy(to, name, (size_t)(end - name));
    to = stpcpy(to + (end - name), gap);
    strcpy(to, skip_columns(name, columns - tail, true));
    return out;
}

static char *replace(char *old, char *new) {
    free(old);
    return new;
}

char *shorten(const char *name, size_t max, const char *gap) {
    static const struct brackets { char open, close; } kinds[] = {{'(', ')'}, {'<', '>'}};
    char *short_name = memory_new(strlen(name) + 1, 1, "a name");
    strcpy(short_name, name);
    utf8_clean(short_name);
    for (size_t k = 0; k < 2 && max > 0; k++) {
        int level = nesting(short_name, kinds[k].open, kinds[k].close);
        for (; level > 0 && !fits(short_name, max); level--)
            short_name = replace(
                short_name, without_level(short_name, kinds[k].open, kinds[k].close, level, gap));
    }
    if (max > 0 && !fits(short_name, max))
        short_name = replace(short_name, without_middle(short_name, max, gap));
    return short_name;
}
