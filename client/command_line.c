/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * command_line.c - quoting: none, \'...\', or $\'...\' where a byte must not be printed.
 */
#include "client/command_line.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

#define ARGUMENT_MAX (COMMAND_LINE_MAX / 5)
#define HEAD         (ARGUMENT_MAX * 2 / 3) /* of a long argument, and the rest from its end */
#define GAP          "..."

/* Without quotes: letters, digits, all that is not ASCII, and what means nothing to a shell. An
 * equals sign in the first word would make it an assignment. */
static bool is_plain(const char *text, bool is_first) {
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++)
        if ((signed char)*text > 0 && !isalnum((unsigned char)*text) &&
            (strchr("_@%+:,./-=", *text) == NULL || (*text == '=' && is_first)))
            return false;
    return true;
}

static void put_single_quoted(FILE *out, const char *text) {
    fputc('\'', out);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

/* As $'...' has it. */
static void put_escape(FILE *out, char byte) {
    static const char letters[] = {['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',
                                   ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};
    if ((uint8_t)byte < sizeof letters && letters[(uint8_t)byte] != 0)
        fprintf(out, "\\%c", letters[(uint8_t)byte]);
    else
        fprintf(out, "\\%03o", (unsigned)(uint8_t)byte);
}

static void put_escaped(FILE *out, const char *text) {
    fputs("$'", out);
    while (*text != '\0') {
        size_t n = utf8_printable(text);
        if (n == 0)
            put_escape(out, *text++);
        else if (*text == '\'' || *text == '\\')
            fprintf(out, "\\%c", *text++);
        else
            text += fwrite(text, 1, n, out);
    }
    fputc('\'', out);
}

static void put_quoted(FILE *out, const char *text, bool is_first) {
    if (!utf8_is_printable(text))
        put_escaped(out, text);
    else if (is_plain(text, is_first))
        fputs(text, out);
    else
        put_single_quoted(out, text);
}

/* Whether a character goes on at `text`. */
static bool is_inside(const char *text) {
    return ((uint8_t)*text & 0xc0) == 0x80;
}

/* Without the middle, if it is long; malloc'ed, NULL: no memory. */
static char *shortened(const char *argument) {
    size_t n = strlen(argument), head = HEAD, tail = n - (ARGUMENT_MAX - HEAD);
    char *text;
    if (n <= ARGUMENT_MAX)
        return strdup(argument);
    for (unsigned i = 0; i < 3 && is_inside(argument + head); i++)
        head--;
    for (unsigned i = 0; i < 3 && is_inside(argument + tail); i++)
        tail++;
    return asprintf(&text, "%.*s" GAP "%s", (int)head, argument, argument + tail) >= 0 ? text
                                                                                       : NULL;
}

/* The words of one argument, malloc'ed; NULL: no memory. */
static char *word_of(const char *argument, bool is_first) {
    char *text = NULL, *cut = shortened(argument);
    size_t bytes;
    FILE *out = cut != NULL ? open_memstream(&text, &bytes) : NULL;
    if (out != NULL)
        put_quoted(out, cut, is_first);
    free(cut);
    if (out == NULL || fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *command_line_title(char *const argv[]) {
    char *title = calloc(COMMAND_LINE_MAX + 1, 1);
    size_t used = 0;
    for (size_t i = 0; argv[i] != NULL && title != NULL; i++) {
        char *word = word_of(argv[i], i == 0);
        size_t room = COMMAND_LINE_MAX - used - (argv[i + 1] != NULL ? strlen(" " GAP) : 0);
        bool fits = word != NULL && strlen(word) + 1 <= room;
        if (fits)
            used += (size_t)sprintf(title + used, "%s%s", i > 0 ? " " : "", word);
        free(word);
        if (!fits) {
            strcpy(title + used, &" " GAP[i == 0]);
            break;
        }
    }
    return title;
}
