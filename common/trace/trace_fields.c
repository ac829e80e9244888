/*
 * trace_fields.c - members to text and back, by the table of the reporting side.
 */
#include "common/trace/trace_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/process_fields.h"
#include "common/wire/compiler.h"

static const struct own_field {
    const char *name;
    size_t offset;
} own_fields[] = {
    {"since_ns", offsetof(struct trace_about, since_ns)},
    {"period", offsetof(struct trace_about, period)},
    {"duration_ns", offsetof(struct trace_about, duration_ns)},
};

static uint64_t *own_member(struct trace_about *about, const struct own_field *field) {
    return (uint64_t *)(void *)((char *)about + field->offset);
}

/* ---- writing ---- */

static void put_number(FILE *out, const char *name, uint64_t number) {
    if (number != 0)
        fprintf(out, "%s%c%" PRIu64 "%c", name, '\0', number, '\0');
}

static void put_fields(FILE *out, const struct trace_about *about) {
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        if (field->kind != FIELD_STRING) {
            put_number(out, field->name, process_field_number(&about->process, field));
            continue;
        }
        const char *string = process_field_string(&about->process, field);
        if (string != NULL && string[0] != '\0')
            fprintf(out, "%s%c%s%c", field->name, '\0', string, '\0');
    }
    struct trace_about copy = *about;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(own_fields); i++)
        put_number(out, own_fields[i].name, *own_member(&copy, &own_fields[i]));
}

uint32_t *trace_fields_write(const struct trace_about *about, size_t *words) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    put_fields(out, about);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    *words = (bytes + 3) / 4;
    uint32_t *filled = calloc(*words + 1, 4);
    if (filled != NULL)
        memcpy(filled, text, bytes);
    free(text);
    return filled;
}

/* ---- reading ---- */

static bool get_number(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool set_field(struct trace_about *about, const char *name, const char *value) {
    const struct process_field *field = process_field_find(name);
    uint64_t number;
    if (field != NULL && field->kind == FIELD_STRING) {
        process_field_set_string(&about->process, field, value);
        return true;
    }
    if (field != NULL) {
        if (!get_number(value, &number))
            return false;
        process_field_set_number(&about->process, field, number);
        return true;
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(own_fields); i++)
        if (strcmp(own_fields[i].name, name) == 0)
            return get_number(value, own_member(about, &own_fields[i]));
    return true;
}

bool trace_fields_read(struct trace_about *about, const char *text, size_t bytes) {
    const char *end = text + bytes;
    *about = (struct trace_about){0};
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        process_field_set_string(&about->process, field, "");
    while (text < end && *text != '\0') {
        const char *name = text;
        const char *value = memchr(name, '\0', (size_t)(end - name));
        if (value == NULL || ++value == end)
            return false;
        const char *after = memchr(value, '\0', (size_t)(end - value));
        if (after == NULL || !set_field(about, name, value))
            return false;
        text = after + 1;
    }
    while (text < end && *text == '\0')
        text++;
    return text == end;
}
