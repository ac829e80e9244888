/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * json_in.c - json-c, with a value where there is none.
 */
#include "client/json_in.h"

#include <math.h>

#define MOMENT_MAX 253402300800.0 /* seconds from 1970 to the end of the year 9999 */

struct json_object *json_in(const char *text, size_t bytes) {
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *root = NULL;
    if (tokener != NULL && bytes < INT32_MAX)
        root = json_tokener_parse_ex(tokener, text, (int)bytes);
    if (tokener != NULL)
        json_tokener_free(tokener);
    return root;
}

static struct json_object *member(const struct json_object *object, const char *name,
                                  enum json_type type) {
    struct json_object *value;
    if (!json_object_object_get_ex(object, name, &value) || !json_object_is_type(value, type))
        return NULL;
    return value;
}

uint64_t json_in_number(const struct json_object *object, const char *name) {
    struct json_object *value;
    return json_object_object_get_ex(object, name, &value) ? json_object_get_uint64(value) : 0;
}

/* What json-c reads has infinity, too, and what is not a number. */
double json_in_real(const struct json_object *object, const char *name) {
    struct json_object *value;
    double number =
        json_object_object_get_ex(object, name, &value) ? json_object_get_double(value) : 0;
    return isfinite(number) ? number : 0;
}

double json_in_moment(const struct json_object *object, const char *name) {
    double moment = json_in_real(object, name);
    return moment > 0 && moment < MOMENT_MAX ? moment : 0;
}

const char *json_in_text(const struct json_object *object, const char *name) {
    struct json_object *value = member(object, name, json_type_string);
    return value != NULL ? json_object_get_string(value) : "";
}

struct json_object *json_in_array(const struct json_object *object, const char *name) {
    return member(object, name, json_type_array);
}
