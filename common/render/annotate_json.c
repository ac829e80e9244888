/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate_json.c - annotated functions as JSON, format "hcct-annotation", version 1.
 *
 *   format, version, type, unit, total
 *   functions: [{function, file, self, self_upper, inclusive, inclusive_upper,
 *                lines: [{line, self, self_upper, inclusive, inclusive_upper,
 *                         callees: [{function, weight}]}]}]
 *
 * True weights are in [self, self_upper] and [inclusive, inclusive_upper]; of a sampled profile
 * they are what its samples say. What is not known is left out.
 */
#include "common/base/json_out.h"
#include "common/render/results.h"

static void put_weights(struct json_out *json, const struct annotation *annotation, uint64_t self,
                        uint64_t inclusive, uint64_t more) {
    json_number_member(json, "self", self);
    json_number_member(json, "self_upper", self + annotation->unknown);
    json_number_member(json, "inclusive", inclusive);
    json_number_member(json, "inclusive_upper", inclusive + more);
}

static void put_line(struct json_out *json, const struct annotation *annotation,
                     const struct annotate_line *line) {
    json_begin(json, '{');
    if (line->line != 0)
        json_number_member(json, "line", line->line);
    put_weights(json, annotation, line->self, line->inclusive, line->more);
    json_array_member(json, "callees");
    for (uint32_t i = 0; i < line->n_callees; i++) {
        json_begin(json, '{');
        json_string_member(json, "function", line->callees[i].name);
        json_number_member(json, "weight", line->callees[i].weight);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static void put_function(struct json_out *json, const struct annotation *annotation,
                         const struct annotate_function *function) {
    json_begin(json, '{');
    json_string_member(json, "function", function->name);
    json_known_member(json, "file", function->file);
    put_weights(json, annotation, function->self, function->inclusive, function->more);
    json_array_member(json, "lines");
    for (uint32_t i = 0; i < function->n_lines; i++)
        put_line(json, annotation, &function->lines[i]);
    json_end(json, ']');
    json_end(json, '}');
}

bool annotation_write_json(FILE *out, const struct annotation *annotation) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_string_member(&json, "format", "hcct-annotation");
    json_number_member(&json, "version", 1);
    json_string_member(&json, "type", annotation->profile->type);
    json_string_member(&json, "unit", annotation->profile->unit);
    json_number_member(&json, "total", annotation->total);
    json_array_member(&json, "functions");
    for (uint32_t i = 0; i < annotation->n_functions; i++)
        put_function(&json, annotation, &annotation->functions[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    fputc('\n', out);
    return !ferror(out);
}
