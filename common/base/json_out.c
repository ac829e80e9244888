/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * json_out.c - JSON to a stream.
 */
#include "common/base/json_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

static void separate(struct json_out *json) {
    if (json->more)
        putc_unlocked(',', json->out);
    json->more = true;
}

void json_begin(struct json_out *json, char bracket) {
    separate(json);
    putc_unlocked(bracket, json->out);
    json->more = false;
}

void json_end(struct json_out *json, char bracket) {
    putc_unlocked(bracket, json->out);
    json->more = true;
}

void json_key(struct json_out *json, const char *key) {
    json_string(json, key);
    putc_unlocked(':', json->out);
    json->more = false;
}

/* What can't stand in a string as it is. A table, as an answer is a million characters. */
enum { PLAIN = 0, SPECIAL = 1, MARKUP = 2, LEAD = 3 };
static const uint8_t kind_of[256] = {
    [0 ... 0x1f] = SPECIAL,
    ['"'] = SPECIAL,
    ['\\'] = SPECIAL,
    [0x7f] = SPECIAL,
    ['<'] = MARKUP,
    ['>'] = MARKUP,
    ['&'] = MARKUP,
    /* of what must not be printed (utf8.h), which a reader may print */
    [0xc2] = LEAD,
    [0xd8] = LEAD,
    [0xe2] = LEAD,
    [0xef] = LEAD,
    [0xf3] = LEAD,
};

static bool is_plain(const struct json_out *json, const char *text) {
    uint8_t kind = kind_of[(uint8_t)*text];
    return kind == PLAIN || (kind == MARKUP && !json->in_html) ||
           (kind == LEAD && utf8_printable(text) > 0);
}

/* "\u009b"; two of them where one has too few digits. */
static void put_code_point(FILE *out, uint32_t point) {
    if (point >= 0x10000)
        fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
                0xdc00 + ((point - 0x10000) & 0x3ff));
    else
        fprintf(out, "\\u%04x", point);
}

/* Returns the last byte of what it has put. */
static const char *put_escaped(FILE *out, const char *text) {
    static const char short_form[] = {
        ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r'};
    unsigned char byte = (unsigned char)*text;
    size_t bytes = utf8_length(text);

    if (byte < sizeof short_form && short_form[byte] != 0)
        fprintf(out, "\\%c", short_form[byte]);
    else
        put_code_point(out, bytes > 0 ? utf8_decode(text, bytes) : 0xfffd);
    return text + (bytes > 1 ? bytes - 1 : 0);
}

static void put_text(struct json_out *json, const char *text, size_t length) {
    for (const char *end = text + length; text < end; text++) {
        const char *plain = text;
        while (text < end && is_plain(json, text))
            text++;
        fwrite_unlocked(plain, 1, (size_t)(text - plain), json->out);
        if (text < end)
            text = put_escaped(json->out, text);
    }
}

void json_part(struct json_out *json, const char *text, size_t length) {
    separate(json);
    putc_unlocked('"', json->out);
    put_text(json, text, length);
    putc_unlocked('"', json->out);
}

void json_string(struct json_out *json, const char *text) {
    json_part(json, text, strlen(text));
}

void json_number(struct json_out *json, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    separate(json);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    fwrite_unlocked(digits + at, 1, sizeof digits - at, json->out);
}

void json_signed(struct json_out *json, int64_t number) {
    separate(json);
    fprintf(json->out, "%" PRId64, number);
}

void json_double(struct json_out *json, double number) {
    separate(json);
    fprintf(json->out, "%.17g", number);
}

void json_scaled(struct json_out *json, uint64_t number, int exponent) {
    json_number(json, number);
    if (exponent != 0 && number != 0)
        fprintf(json->out, "e%d", exponent);
}

void json_bool(struct json_out *json, bool value) {
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_out *json) {
    separate(json);
    fputs("null", json->out);
}

void json_string_member(struct json_out *json, const char *key, const char *text) {
    json_key(json, key);
    json_string(json, text);
}

/* Gets no memory, so that nothing can fail where a list is written. */
void json_bytes_member(struct json_out *json, const char *key, const char *bytes) {
    json_key(json, key);
    separate(json);
    putc_unlocked('"', json->out);
    while (*bytes != '\0') {
        size_t good = 0;
        for (size_t n; bytes[good] != '\0' && (n = utf8_length(&bytes[good])) > 0;)
            good += n;
        put_text(json, bytes, good);
        bytes += good;
        if (*bytes != '\0') {
            fputs("\xef\xbf\xbd", json->out);
            bytes++;
        }
    }
    putc_unlocked('"', json->out);
}

void json_number_member(struct json_out *json, const char *key, uint64_t number) {
    json_key(json, key);
    json_number(json, number);
}

void json_known_member(struct json_out *json, const char *key, const char *text) {
    if (*text != '\0')
        json_string_member(json, key, text);
}

void json_double_member(struct json_out *json, const char *key, double number) {
    json_key(json, key);
    json_double(json, number);
}

void json_bool_member(struct json_out *json, const char *key, bool value) {
    json_key(json, key);
    json_bool(json, value);
}

void json_array_member(struct json_out *json, const char *key) {
    json_key(json, key);
    json_begin(json, '[');
}

void json_object_member(struct json_out *json, const char *key) {
    json_key(json, key);
    json_begin(json, '{');
}

void json_repeat_member(struct json_out *json, const char *key, const char *literal, uint32_t n) {
    json_array_member(json, key);
    for (uint32_t i = 0; i < n; i++) {
        separate(json);
        fputs_unlocked(literal, json->out);
    }
    json_end(json, ']');
}
