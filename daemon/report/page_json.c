/*
 * page_json.c - strings as JSON within HTML.
 */
#include "daemon/report/page_json.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/report/profile.h"

#define LABEL 10 /* columns of a summary's first word */

static void put_escaped(FILE *out, char c) {
    if (c == '"' || c == '\\')
        fprintf(out, "\\%c", c);
    else if ((unsigned char)c < 0x20 || c == '<' || c == '>' || c == '&')
        fprintf(out, "\\u%04x", (unsigned)c);
    else
        fputc(c, out);
}

static void put_text(FILE *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        put_escaped(out, text[i]);
}

void page_json_string(FILE *out, const char *text) {
    fputc('"', out);
    put_text(out, text, strlen(text));
    fputc('"', out);
}

/* Columns of the label that a line begins with; 0: it goes on with the one before. */
static size_t label_length(const char *line, size_t length) {
    size_t label = length < LABEL ? length : LABEL;

    while (label > 0 && line[label - 1] == ' ')
        label--;
    return label;
}

void page_json_facts(FILE *out, const char *lines) {
    bool open = false;

    for (const char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n"), label = label_length(line, length);
        size_t rest = length < LABEL ? length : LABEL;

        if (label > 0 || !open) {
            fputs(open ? "\"],\n[\"" : "\n[\"", out);
            put_text(out, line, label);
            fputs("\",\"", out);
        } else {
            fputc(' ', out);
        }
        put_text(out, line + rest, length - rest);
        open = true;
        line += length + (line[length] == '\n');
    }
    if (open)
        fputs("\"]", out);
}
