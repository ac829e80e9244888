/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_process.c - a header, and a message of Protocol Buffers, of which two attributes are looked
 * for. It is the application's and may be anything.
 */
#include "preload/labels/otel_process.h"

#include <string.h>

#include "preload/labels/checked.h"

#define SIGNATURE    "OTEL_CTX"
#define VERSION      2u
#define VERSION_AT   8u /* offsets in the header */
#define SIZE_AT      12u
#define PUBLISHED_AT 16u
#define PAYLOAD_AT   24u
#define PAYLOAD_MAX  65536u

/* Fields of the messages ProcessContext, KeyValue, AnyValue and ArrayValue. */
#define ATTRIBUTES   2u
#define KEY          1u
#define VALUE        2u
#define STRING_VALUE 1u
#define ARRAY_VALUE  5u
#define VALUES       1u

#define KEY_MAP "threadlocal.attribute_key_map"
#define SCHEMA  "threadlocal.schema_version"

/* The form of the threads' records that is read here, by the names that it has had. */
static const char *const schemas[] = {"tls_v1", "tlsdesc_v1", "tlsdesc_v1_dev"};

struct part {
    uint64_t at, end;
};

static uint64_t left(const struct part *part) {
    return part->end - part->at;
}

static bool read_varint(struct checked *c, struct part *in, uint64_t *n) {
    *n = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        uint8_t byte = checked_byte(c, in->at++);
        *n |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return !c->failed;
    }
    return false;
}

/* The next field that has a part of its own; numbers are passed over. False: there is none. */
static bool next_field(struct checked *c, struct part *in, uint64_t *field, struct part *part) {
    uint64_t tag, n;
    while (read_varint(c, in, &tag)) {
        unsigned kind = tag & 7;
        if (kind == 0 && read_varint(c, in, &n))
            continue;
        n = kind == 1 ? 8 : 4;
        if (kind == 0 || kind == 3 || kind == 4 || kind > 5 ||
            (kind == 2 && !read_varint(c, in, &n)) || n > left(in))
            return false;
        *field = tag >> 3;
        *part = (struct part){in->at, in->at + n};
        in->at += n;
        if (kind == 2)
            return true;
    }
    return false;
}

/* The first such field. */
static bool find_field(struct checked *c, struct part in, uint64_t wanted, struct part *part) {
    uint64_t field;
    while (next_field(c, &in, &field, part))
        if (field == wanted)
            return true;
    return false;
}

static bool is_text(struct checked *c, struct part part, const char *text) {
    size_t n = strlen(text);
    if (left(&part) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (checked_byte(c, part.at + i) != (uint8_t)text[i])
            return false;
    return true;
}

/* The value of the attribute of that name. */
static bool find_attribute(struct checked *c, struct part context, const char *name,
                           struct part *value) {
    struct part attribute, key;
    uint64_t field;
    while (next_field(c, &context, &field, &attribute))
        if (field == ATTRIBUTES && find_field(c, attribute, KEY, &key) && is_text(c, key, name))
            return find_field(c, attribute, VALUE, value);
    return false;
}

static bool is_of_schema(struct checked *c, struct part context) {
    struct part value, text;
    if (!find_attribute(c, context, SCHEMA, &value) || !find_field(c, value, STRING_VALUE, &text))
        return false;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
        if (is_text(c, text, schemas[i]))
            return true;
    return false;
}

static bool read_header(struct checked *c, uint64_t at, struct part *payload) {
    for (unsigned i = 0; i < sizeof SIGNATURE - 1; i++)
        if (checked_byte(c, at + i) != (uint8_t)SIGNATURE[i])
            return false;
    uint64_t size = checked_number(c, at + SIZE_AT, 4);
    payload->at = checked_number(c, at + PAYLOAD_AT, 8);
    payload->end = payload->at + size;
    return checked_number(c, at + VERSION_AT, 4) == VERSION && size <= PAYLOAD_MAX &&
           payload->end >= payload->at && checked_number(c, at + PUBLISHED_AT, 8) != 0 &&
           !c->failed;
}

bool otel_process_read(uint64_t at,
                       void (*see)(void *arg, struct checked *c, unsigned number, uint64_t name,
                                   uint64_t bytes),
                       void *arg) {
    struct checked c = {.at = 0};
    struct part context, value, names, name, text;
    uint64_t field;
    if (!read_header(&c, at, &context) || !is_of_schema(&c, context) ||
        !find_attribute(&c, context, KEY_MAP, &value) ||
        !find_field(&c, value, ARRAY_VALUE, &names))
        return false;
    for (unsigned i = 0; i < OTEL_KEYS && next_field(&c, &names, &field, &name);) {
        if (field != VALUES)
            continue;
        if (find_field(&c, name, STRING_VALUE, &text))
            see(arg, &c, i, text.at, left(&text));
        i++;
    }
    return true;
}
