/*
 * annotate_json.c - annotated functions as JSON, format "hcct-annotation", version 1.
 *
 *   format, version, type, unit, total
 *   functions: [{function, file, self, inclusive,
 *                lines: [{line, self, inclusive, callees: [{function, weight}]}]}]
 *
 * What is not known is left out.
 */
#include <json-c/json.h>

#include "daemon/report/annotate.h"

static void add_number(struct json_object *to, const char *key, uint64_t number) {
    json_object_object_add(to, key, json_object_new_uint64(number));
}

static void add_string(struct json_object *to, const char *key, const char *text) {
    json_object_object_add(to, key, json_object_new_string(text));
}

static struct json_object *make_line(const struct annotate_line *line) {
    struct json_object *object = json_object_new_object(), *callees = json_object_new_array();

    if (line->line != 0)
        add_number(object, "line", line->line);
    add_number(object, "self", line->self);
    add_number(object, "inclusive", line->inclusive);
    for (uint32_t i = 0; i < line->n_callees; i++) {
        struct json_object *callee = json_object_new_object();

        add_string(callee, "function", line->callees[i].name);
        add_number(callee, "weight", line->callees[i].weight);
        json_object_array_add(callees, callee);
    }
    json_object_object_add(object, "callees", callees);
    return object;
}

static struct json_object *make_function(const struct annotate_function *function) {
    struct json_object *object = json_object_new_object(), *lines = json_object_new_array();

    add_string(object, "function", function->name);
    if (function->file[0] != '\0')
        add_string(object, "file", function->file);
    add_number(object, "self", function->self);
    add_number(object, "inclusive", function->inclusive);
    for (uint32_t i = 0; i < function->n_lines; i++)
        json_object_array_add(lines, make_line(&function->lines[i]));
    json_object_object_add(object, "lines", lines);
    return object;
}

bool annotation_write_json(FILE *out, const struct annotation *annotation) {
    struct json_object *top = json_object_new_object(), *functions = json_object_new_array();

    add_string(top, "format", "hcct-annotation");
    add_number(top, "version", 1);
    add_string(top, "type", annotation->profile->type);
    add_string(top, "unit", annotation->profile->unit);
    add_number(top, "total", annotation->total);
    for (uint32_t i = 0; i < annotation->n_functions; i++)
        json_object_array_add(functions, make_function(&annotation->functions[i]));
    json_object_object_add(top, "functions", functions);
    fprintf(out, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY));
    json_object_put(top);
    return !ferror(out);
}
