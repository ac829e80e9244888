/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * option_words.c - "NAME=VALUE is not possible" at the beginning of a sentence, where the value is
 * the user's, and "NAME=" within it.
 */
#include "client/option_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REFUSED " is not possible: " /* query.c */

static const struct option_word of_all[] = {
    {"pid", "-p", NULL},
    {"exe", "--exe", NULL},
    {"tag", "--tag", NULL},
    {"metric", "--metric", NULL},
    {"collector", "--metric", NULL},
    {"phi", "--phi", NULL},
    {"n", "-n", NULL},
    {"by", "--by", NULL},
    {"format", "--format", NULL},
    {"cut", "--cut", NULL},
    {"top", "--top", NULL},
    {"focus", "--focus", NULL},
    {"ignore", "--ignore", NULL},
    {NULL, NULL, NULL},
};

const struct option_word option_words[] = {
    {"window", "--window", NULL},
    {"since", "--since", NULL},
    {"until", "--until", NULL},
    {NULL, NULL, NULL},
};

const struct option_word operand_words[] = {
    {"window", "@TIME", "@"},
    {"since", "the first moment", "@"},
    {"until", "the second", ".."},
    {NULL, NULL, NULL},
};

static const struct option_word *find_in(const struct option_word *words, const char *text,
                                         size_t n) {
    for (; words->parameter != NULL; words++)
        if (strlen(words->parameter) == n && strncmp(words->parameter, text, n) == 0)
            return words;
    return NULL;
}

/* Of the parameter that `text` begins with, and the sign behind it; NULL: there is none. */
static const struct option_word *find(const struct option_word *words, const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    if (text[n] != '=')
        return NULL;
    const struct option_word *word = find_in(words, text, n);
    return word != NULL ? word : find_in(of_all, text, n);
}

static bool is_within(const char *from, const char *at) {
    return at == from || at[-1] == ' ' || at[-1] == '(';
}

static bool ends_word(char c) {
    return c == '\0' || c == '\n' || strchr(" ,):;", c) != NULL;
}

static void put(FILE *out, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        fputc(iscntrl((unsigned char)text[i]) ? '?' : text[i], out);
}

/* The value that a sentence begins with; returns where it goes on. */
static const char *put_value(FILE *out, const char *text, const char *end,
                             const struct option_word *words) {
    const struct option_word *word = find(words, text);
    const char *value = word != NULL ? strchr(text, '=') + 1 : NULL;
    const char *refused = value != NULL ? strstr(value, REFUSED) : NULL;
    if (refused == NULL || refused > end)
        return text;
    if (word->before == NULL)
        fprintf(out, "%s '", word->option);
    else
        fprintf(out, "'%s", word->before);
    put(out, value, (size_t)(refused - value));
    fputc('\'', out);
    return refused;
}

void option_words_say(char *line, size_t bytes, const char *body, const struct option_word *words) {
    const char *end = body + strcspn(body, "\n");
    FILE *out = fmemopen(line, bytes, "w");
    line[0] = '\0';
    if (out == NULL)
        return;
    const char *begin = put_value(out, body, end, words);
    for (const char *at = begin; at < end;) {
        const struct option_word *word = is_within(begin, at) ? find(words, at) : NULL;
        size_t n = word != NULL ? strlen(word->parameter) + 1 : 1;
        if (word != NULL && ends_word(at[n]))
            fputs(word->option, out);
        else
            put(out, at, n);
        at += n;
    }
    fclose(out);
    line[bytes - 1] = '\0';
}
