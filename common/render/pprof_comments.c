/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_comments.c - meta data to comments and back.
 */
#include "common/render/pprof_comments.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/process_fields.h"

#define VERSION      2
#define PROFILE_WORD "hcct: profile "
#define PROCESS_WORD "hcct: process "
#define METRIC_WORD  "hcct: metric "
#define MARK_WORD    "hcct: mark "

/* ---- writing ---- */

static bool needs_quotes(const char *value) {
    if (*value == '\0')
        return true;
    for (; *value != '\0'; value++)
        if (*value == ' ' || *value == '"' || *value == '\\' || iscntrl((unsigned char)*value))
            return true;
    return false;
}

static void put_string(FILE *out, const char *key, const char *value) {
    fprintf(out, " %s=", key);
    if (!needs_quotes(value)) {
        fputs(value, out);
        return;
    }
    fputc('"', out);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fprintf(out, "\\%c", *value);
        else if (iscntrl((unsigned char)*value))
            fprintf(out, "\\x%02x", (unsigned char)*value);
        else
            fputc(*value, out);
    }
    fputc('"', out);
}

/* As few digits as give the same number back. */
static void put_number(FILE *out, const char *key, double value) {
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fprintf(out, " %s=%s", key, text);
}

char *comment_profile(const struct profile *profile) {
    FILE *out = memory_stream("comments");
    fprintf(out, PROFILE_WORD "%d", VERSION);
    put_number(out, "phi", profile->phi);
    put_number(out, "epsilon", profile->epsilon);
    put_string(out, "summary", profile->summary);
    if (*profile->title != '\0')
        put_string(out, "title", profile->title);
    if (profile->window_ns != 0)
        fprintf(out, " window_ns=%" PRIu64, profile->window_ns);
    if (profile->is_past)
        fputs(" past=1", out);
    if (profile->kernel_ns != 0)
        fprintf(out, " kernel_ns=%" PRIu64, profile->kernel_ns);
    return memory_stream_end(out, NULL, "comments");
}

char *comment_metric(const struct comment_metric *metric) {
    FILE *out = memory_stream("comments");
    fprintf(out, METRIC_WORD "%s", metric->type);
    if (metric->period != 0)
        fprintf(out, " period=%" PRIu64, metric->period);
    return memory_stream_end(out, NULL, "comments");
}

bool comment_read_metric(const char *comment, struct comment_metric *metric) {
    *metric = (struct comment_metric){.period = 0};
    if (strncmp(comment, METRIC_WORD, strlen(METRIC_WORD)) != 0)
        return false;
    sscanf(comment + strlen(METRIC_WORD), "%63s period=%" SCNu64, metric->type, &metric->period);
    return true;
}

char *comment_mark(const struct mark_line *mark) {
    size_t bytes;
    FILE *out = memory_stream("comments");
    fputs(MARK_WORD, out);
    mark_line_put(out, mark);
    char *text = memory_stream_end(out, &bytes, "comments");
    text[bytes - 1] = '\0'; /* the line's end */
    return text;
}

bool comment_read_mark(const char *comment, struct mark_line *mark) {
    if (strncmp(comment, MARK_WORD, strlen(MARK_WORD)) != 0)
        return false;
    comment += strlen(MARK_WORD);
    return mark_line_next(&comment, mark);
}

char *comment_process(const struct profile *profile, uint32_t process) {
    const struct profile_process *from = &profile->processes[process];
    FILE *out = memory_stream("comments");
    fprintf(out, PROCESS_WORD "%" PRIu32, process);
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        uint64_t number = process_field_number(from, field);
        if (field->kind == FIELD_STRING) {
            if (*process_field_string(from, field) != '\0')
                put_string(out, field->name, process_field_string(from, field));
        } else if (number != 0)
            fprintf(out, " %s=%" PRIu64, field->name, number);
    }
    return memory_stream_end(out, NULL, "comments");
}

char *comment_process_label(const struct profile *profile, uint32_t process) {
    const struct profile_process *it = &profile->processes[process];
    size_t bytes = strlen(it->command) + 16;
    char *label = memory_new(1, bytes, "a label");
    bool taken = false;
    for (uint32_t i = 1; i < process && !taken; i++)
        taken =
            profile->processes[i].command == it->command && profile->processes[i].pid == it->pid;
    if (taken)
        snprintf(label, bytes, "%s#%" PRIu32, it->command, process);
    else
        strcpy(label, it->command);
    return label;
}

/* ---- reading ---- */

/* The character that an escape stands for; *text goes behind it. */
static char read_escape(char **text) {
    char digits[3] = {0};
    if (**text != 'x')
        return *(*text)++;
    for (int i = 0; i < 2 && isxdigit((unsigned char)(*text)[1]); i++)
        digits[i] = *++*text;
    ++*text;
    return (char)strtoul(digits, NULL, 16);
}

/* The next key=value of *text, unquoted in place; false at the end or when it is no such pair. */
static bool read_pair(char **text, char **key, char **value) {
    char *to;
    *text += strspn(*text, " ");
    *key = *text;
    *text += strcspn(*text, "= ");
    if (**text != '=')
        return false;
    *(*text)++ = '\0';
    *value = to = *text;
    if (**text != '"') {
        *text += strcspn(*text, " ");
        if (**text != '\0')
            *(*text)++ = '\0';
        return true;
    }
    ++*text;
    while (**text != '"') {
        char byte = *(*text)++;
        if (byte == '\\' && **text != '\0')
            byte = read_escape(text);
        if (byte == '\0')
            return false;
        *to++ = byte;
    }
    ++*text;
    *to = '\0';
    return true;
}

static void read_profile(struct profile *profile, char *text) {
    char *key, *value;
    while (read_pair(&text, &key, &value)) {
        if (strcmp(key, "phi") == 0)
            profile->phi = strtod(value, NULL);
        else if (strcmp(key, "epsilon") == 0)
            profile->epsilon = strtod(value, NULL);
        else if (strcmp(key, "summary") == 0)
            profile->summary = profile_word(profile, value);
        else if (strcmp(key, "title") == 0)
            profile->title = profile_string(profile, value);
        else if (strcmp(key, "window_ns") == 0)
            profile->window_ns = strtoull(value, NULL, 10);
        else if (strcmp(key, "past") == 0)
            profile->is_past = strcmp(value, "1") == 0;
        else if (strcmp(key, "kernel_ns") == 0)
            profile->kernel_ns = strtoull(value, NULL, 10);
    }
    /* neither a fraction nor 0: not known */
    if (!(profile->phi > 0 && profile->phi < 1))
        profile->phi = 0;
    if (!(profile->epsilon > 0 && profile->epsilon < 1))
        profile->epsilon = 0;
}

static void read_process(struct profile *profile, char *text) {
    struct profile_process process = {.exe = "", .command = ""};
    char *key, *value;
    while (read_pair(&text, &key, &value)) {
        const struct process_field *field = process_field_find(key);
        if (field == NULL)
            continue;
        process_field_set_string(&process, field, value);
        process_field_set_number(&process, field, strtoull(value, NULL, 10));
    }
    profile_add_process(profile, &process);
}

bool comment_read(struct profile *profile, const char *comment, int *version) {
    bool is_profile = strncmp(comment, PROFILE_WORD, strlen(PROFILE_WORD)) == 0;
    char *copy, *text;
    if (!is_profile && strncmp(comment, PROCESS_WORD, strlen(PROCESS_WORD)) != 0)
        return false;
    copy = strdup(comment);
    if (copy == NULL)
        memory_die("comments");
    text = copy + strlen(is_profile ? PROFILE_WORD : PROCESS_WORD);
    text += strcspn(text, " ");
    if (is_profile)
        *version = atoi(comment + strlen(PROFILE_WORD));
    if (is_profile)
        read_profile(profile, text);
    else
        read_process(profile, text);
    free(copy);
    return true;
}
