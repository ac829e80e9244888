/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * json_in.h - reading hcctd's answers: what is missing, or of another type, is nothing.
 */
#ifndef HCCT_JSON_IN_H
#define HCCT_JSON_IN_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

/* For json_object_put(). NULL: it is no JSON, or there is no memory. */
struct json_object *json_in(const char *text, size_t bytes);

/* Members of an object, which may be NULL: 0, "" and NULL where there are none such. */
uint64_t json_in_number(const struct json_object *object, const char *name);
double json_in_real(const struct json_object *object, const char *name); /* finite */
/* Seconds since 1970; 0 for what no calendar has, too. */
double json_in_moment(const struct json_object *object, const char *name);
const char *json_in_text(const struct json_object *object, const char *name); /* the object's */
struct json_object *json_in_array(const struct json_object *object, const char *name);

#endif
