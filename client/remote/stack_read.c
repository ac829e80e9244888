/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_read.c - arrays to frames.
 */
#include <stdlib.h>

#include "client/json_in.h"
#include "client/remote/stack_row.h"
#include "common/base/memory.h"

#define DEPTH_MAX 100000

struct row {
    struct json_object *functions, *system_names, *files, *lines, *modules, *build_ids, *addresses,
        *kinds;
    size_t n;
};

static struct json_object *column(const struct json_object *object, const char *name, size_t n) {
    struct json_object *array = json_in_array(object, name);
    return array != NULL && (n == 0 || json_object_array_length(array) == n) ? array : NULL;
}

static bool get_row(struct row *row, const struct json_object *object) {
    row->functions = column(object, "functions", 0);
    row->n = row->functions != NULL ? json_object_array_length(row->functions) : 0;
    if (row->n == 0 || row->n > DEPTH_MAX)
        return false;
    row->system_names = column(object, "system_names", row->n);
    row->files = column(object, "files", row->n);
    row->lines = column(object, "lines", row->n);
    row->modules = column(object, "modules", row->n);
    row->build_ids = column(object, "build_ids", row->n);
    row->addresses = column(object, "addresses", row->n);
    row->kinds = column(object, "kinds", row->n);
    return row->system_names != NULL && row->files != NULL && row->lines != NULL &&
           row->modules != NULL && row->build_ids != NULL && row->addresses != NULL &&
           row->kinds != NULL;
}

static const char *text_at(struct json_object *array, size_t i) {
    const char *text = json_object_get_string(json_object_array_get_idx(array, i));

    return text != NULL ? text : "";
}

static uint64_t number_at(struct json_object *array, size_t i) {
    return json_object_get_uint64(json_object_array_get_idx(array, i));
}

/* The location whose frames begin at *i; *i goes behind them. */
static uint32_t read_location(struct profile *profile, const struct row *row, size_t *i) {
    size_t first = *i, n = 1;
    struct profile_location place = {.address = number_at(row->addresses, first),
                                     .is_entry = (number_at(row->kinds, first) & STACK_ENTRY) != 0};
    while (first + n < row->n && (number_at(row->kinds, first + n) & STACK_INLINED) != 0)
        n++;
    if (text_at(row->modules, first)[0] != '\0')
        place.module = profile_add_module(profile, text_at(row->modules, first),
                                          text_at(row->build_ids, first));
    place.n_lines = (uint32_t)n;
    place.lines = memory_new(n, sizeof *place.lines, "a location");
    for (size_t k = 0; k < n; k++) {
        size_t at = first + n - 1 - k;
        place.lines[k].line = (uint32_t)number_at(row->lines, at);
        place.lines[k].function =
            profile_add_function(profile, text_at(row->functions, at),
                                 text_at(row->system_names, at), text_at(row->files, at), 0);
    }
    uint32_t location = profile_intern_location(profile, &place);
    free(place.lines);
    *i = first + n;
    return location;
}

uint32_t *stack_row_read(struct profile *profile, const struct json_object *object, uint32_t *n) {
    struct row row;
    *n = 0;
    if (!get_row(&row, object))
        return NULL;
    uint32_t *locations = memory_new(row.n, sizeof *locations, "a stack");
    for (size_t i = 0; i < row.n;)
        locations[(*n)++] = read_location(profile, &row, &i);
    return locations;
}
