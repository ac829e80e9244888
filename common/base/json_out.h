/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * json_out.h - JSON written as it comes: a profile would be a tree of a million objects elsewhere.
 *
 * The caller says what begins and ends; commas come by themselves. Strings are valid UTF-8. Errors
 * are the stream's (ferror). One thread for each writer.
 */
#ifndef HCCT_JSON_OUT_H
#define HCCT_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out {
    FILE *out;
    bool in_html; /* without '<', '>' and '&', so that no name ends the element it stands in */
    bool more;    /* a comma is due before the next key or element */
};

/* Of an object or array; `bracket` is one of "{[" and of "]}". */
void json_begin(struct json_out *json, char bracket);
void json_end(struct json_out *json, char bracket);

void json_key(struct json_out *json, const char *key);

/* Elements of an array, or values after a key. */
void json_string(struct json_out *json, const char *text);
/* A string of `length` bytes. */
void json_part(struct json_out *json, const char *text, size_t length);
void json_number(struct json_out *json, uint64_t number);
void json_signed(struct json_out *json, int64_t number);
void json_double(struct json_out *json, double number); /* finite */
/* number * 10^exponent, exactly, with all digits of the number: "1204e-6". */
void json_scaled(struct json_out *json, uint64_t number, int exponent);
void json_bool(struct json_out *json, bool value);
void json_null(struct json_out *json);

/* A member of an object: key and value. */
void json_string_member(struct json_out *json, const char *key, const char *text);
/* The same of any bytes: what is not UTF-8 becomes U+FFFD. */
void json_bytes_member(struct json_out *json, const char *key, const char *bytes);
void json_number_member(struct json_out *json, const char *key, uint64_t number);
void json_double_member(struct json_out *json, const char *key, double number);
void json_bool_member(struct json_out *json, const char *key, bool value);
/* None when there is no text. */
void json_known_member(struct json_out *json, const char *key, const char *text);
/* A key, and the array that begins after it. */
void json_array_member(struct json_out *json, const char *key);
void json_object_member(struct json_out *json, const char *key);
/* The same value n times, as an array. */
void json_repeat_member(struct json_out *json, const char *key, const char *literal, uint32_t n);

#endif
