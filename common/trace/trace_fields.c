/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_fields.c - members to text and back, by the table of the reporting side.
 */
#include "common/trace/trace_fields.h"

#include <stdio.h>
#include <string.h>

#include "common/profile/process_fields.h"
#include "common/trace/field_text.h"
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

static void put_fields(FILE *out, const void *arg) {
    const struct trace_about *about = arg;
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        if (field->kind != FIELD_STRING) {
            field_text_put_number(out, field->name, process_field_number(&about->process, field));
            continue;
        }
        const char *string = process_field_string(&about->process, field);
        if (string != NULL && string[0] != '\0')
            field_text_put(out, field->name, string);
    }
    struct trace_about copy = *about;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(own_fields); i++)
        field_text_put_number(out, own_fields[i].name, *own_member(&copy, &own_fields[i]));
}

uint32_t *trace_fields_write(const struct trace_about *about, size_t *words) {
    return field_text_write(put_fields, about, words);
}

/* ---- reading ---- */

static bool set_field(void *arg, const char *name, const char *value) {
    struct trace_about *about = arg;
    const struct process_field *field = process_field_find(name);
    uint64_t number;
    if (field != NULL && field->kind == FIELD_STRING) {
        process_field_set_string(&about->process, field, value);
        return true;
    }
    if (field != NULL) {
        if (!field_text_number(value, &number))
            return false;
        process_field_set_number(&about->process, field, number);
        return true;
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(own_fields); i++)
        if (strcmp(own_fields[i].name, name) == 0)
            return field_text_number(value, own_member(about, &own_fields[i]));
    return true;
}

bool trace_fields_read(struct trace_about *about, const char *text, size_t bytes) {
    *about = (struct trace_about){0};
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        process_field_set_string(&about->process, field, "");
    return field_text_read(text, bytes, set_field, about);
}
