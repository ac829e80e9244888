/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * firefox_shared.c - the tables that all threads share, and the libraries, as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/render/firefox_tables.h"

#define RESOURCE_LIBRARY "1"

enum { CATEGORY_OTHER, CATEGORY_PROGRAM, CATEGORY_LIBRARY, CATEGORY_GENERATED };

const struct firefox_category firefox_categories[] = {
    [CATEGORY_OTHER] = {"Other", "grey"},
    [CATEGORY_PROGRAM] = {"Program", "blue"},
    [CATEGORY_LIBRARY] = {"Library", "green"},
    [CATEGORY_GENERATED] = {"Generated code", "orange"},
    {NULL, NULL},
};

static void number_or_null(struct json_out *json, bool known, uint64_t number) {
    if (known)
        json_number(json, number);
    else
        json_null(json);
}

static void end_table(struct json_out *json, uint32_t length) {
    json_number_member(json, "length", length);
    json_end(json, '}');
}

static void put_stacks(struct json_out *json, const struct firefox_tables *t) {
    const struct profile *profile = t->profile;
    uint32_t n = 0;
    json_object_member(json, "stackTable");
    json_array_member(json, "frame");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].parent != 0)
            json_number(json, profile->nodes[i].location - 1);
    json_end(json, ']');
    /* how far before it a stack's caller is; 0: it has none, but for the process */
    json_array_member(json, "prefixOffset");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (parent == 0)
            continue;
        json_number(json, profile->nodes[parent].parent != 0 ? t->stack[i] - t->stack[parent] : 0);
        n++;
    }
    json_end(json, ']');
    end_table(json, n);
}

static bool is_program(const struct profile *profile, uint32_t module) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->modules[module].path == profile->processes[i].exe)
            return true;
    return false;
}

static int *module_categories(const struct profile *profile) {
    int *category = memory_new(profile->n_modules, sizeof *category, "modules");
    for (uint32_t i = 1; i < profile->n_modules; i++)
        category[i] = is_program(profile, i) ? CATEGORY_PROGRAM : CATEGORY_LIBRARY;
    return category;
}

static void put_frame_categories(struct json_out *json, const struct profile *profile) {
    int *category = module_categories(profile);
    json_array_member(json, "category");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        int it = place->module != 0 ? category[place->module] : CATEGORY_GENERATED;
        json_number(json, (uint64_t)(profile_is_pseudo(place) ? CATEGORY_OTHER : it));
    }
    json_end(json, ']');
    free(category);
}

/* The symbol of the function that the code at the location belongs to. */
static const struct firefox_function *frame_symbol(const struct firefox_tables *t, uint32_t i) {
    const struct firefox_function *function = &t->functions[t->function[i]];
    const struct profile_location *place = &t->profile->locations[i];

    return function->has_entry && t->depth[i] == 0 && place->address >= function->entry ? function
                                                                                        : NULL;
}

static void put_frame_places(struct json_out *json, const struct firefox_tables *t) {
    const struct profile *profile = t->profile;
    json_array_member(json, "address");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        json_signed(json, firefox_has_address(place) ? (int64_t)place->address : -1);
    }
    json_end(json, ']');
    json_array_member(json, "line");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        uint32_t line = profile->locations[i].lines[0].line;
        number_or_null(json, line != 0, line);
    }
    json_end(json, ']');
}

static void put_frames(struct json_out *json, const struct firefox_tables *t) {
    uint32_t n = t->profile->n_locations - 1;
    json_object_member(json, "frameTable");
    put_frame_places(json, t);
    put_frame_categories(json, t->profile);
    json_array_member(json, "inlineDepth");
    for (uint32_t i = 1; i <= n; i++)
        json_number(json, t->depth[i]);
    json_end(json, ']');
    json_array_member(json, "func");
    for (uint32_t i = 1; i <= n; i++)
        json_number(json, t->function[i] - 1);
    json_end(json, ']');
    json_array_member(json, "nativeSymbol");
    for (uint32_t i = 1; i <= n; i++) {
        const struct firefox_function *symbol = frame_symbol(t, i);
        number_or_null(json, symbol != NULL, symbol != NULL ? symbol->symbol : 0);
    }
    json_end(json, ']');
    json_repeat_member(json, "subcategory", "0", n);
    json_repeat_member(json, "innerWindowID", "0", n);
    json_repeat_member(json, "column", "null", n);
    json_repeat_member(json, "originalLocation", "null", n);
    end_table(json, n);
}

static void put_functions(struct json_out *json, struct firefox_tables *t) {
    uint32_t n = t->n_functions - 1;
    json_object_member(json, "funcTable");
    json_array_member(json, "name");
    for (uint32_t i = 1; i <= n; i++)
        json_number(json, firefox_string(t, t->functions[i].name));
    json_end(json, ']');
    json_array_member(json, "resource");
    for (uint32_t i = 1; i <= n; i++)
        json_signed(json, (int64_t)t->functions[i].module - 1);
    json_end(json, ']');
    json_array_member(json, "source");
    for (uint32_t i = 1; i <= n; i++) {
        const char *file = t->functions[i].file;
        number_or_null(json, *file != '\0', *file != '\0' ? firefox_source(t, file) : 0);
    }
    json_end(json, ']');
    json_array_member(json, "lineNumber");
    for (uint32_t i = 1; i <= n; i++)
        number_or_null(json, t->functions[i].start_line != 0, t->functions[i].start_line);
    json_end(json, ']');
    json_repeat_member(json, "isJS", "false", n);
    json_repeat_member(json, "relevantForJS", "false", n);
    json_repeat_member(json, "columnNumber", "null", n);
    json_repeat_member(json, "originalLocation", "null", n);
    end_table(json, n);
}

static void put_symbols(struct json_out *json, struct firefox_tables *t) {
    uint32_t n = 0;
    json_object_member(json, "nativeSymbols");
    json_array_member(json, "libIndex");
    for (uint32_t i = 1; i < t->n_functions; i++) {
        if (t->functions[i].has_entry) {
            json_number(json, t->functions[i].module - 1);
            t->functions[i].symbol = n++;
        }
    }
    json_end(json, ']');
    json_array_member(json, "address");
    for (uint32_t i = 1; i < t->n_functions; i++)
        if (t->functions[i].has_entry)
            json_number(json, t->functions[i].entry);
    json_end(json, ']');
    json_array_member(json, "name");
    for (uint32_t i = 1; i < t->n_functions; i++)
        if (t->functions[i].has_entry)
            json_number(json, firefox_string(t, t->functions[i].name));
    json_end(json, ']');
    json_repeat_member(json, "functionSize", "null", n);
    end_table(json, n);
}

static void put_resources(struct json_out *json, struct firefox_tables *t) {
    const struct profile *profile = t->profile;
    uint32_t n = profile->n_modules - 1;
    json_object_member(json, "resourceTable");
    json_array_member(json, "lib");
    for (uint32_t i = 0; i < n; i++)
        json_number(json, i);
    json_end(json, ']');
    json_array_member(json, "name");
    for (uint32_t i = 1; i <= n; i++)
        json_number(json, firefox_string(t, profile_basename(profile->modules[i].path)));
    json_end(json, ']');
    json_repeat_member(json, "host", "null", n);
    json_repeat_member(json, "type", RESOURCE_LIBRARY, n);
    end_table(json, n);
}

static void put_sources(struct json_out *json, struct firefox_tables *t) {
    uint32_t n = t->n_files - 1;
    json_object_member(json, "sources");
    json_array_member(json, "filename");
    for (uint32_t i = 1; i <= n; i++)
        json_number(json, firefox_string(t, t->files[i]));
    json_end(json, ']');
    json_repeat_member(json, "id", "null", n);
    json_repeat_member(json, "startLine", "1", n);
    json_repeat_member(json, "startColumn", "1", n);
    json_repeat_member(json, "sourceMapURL", "null", n);
    json_repeat_member(json, "content", "null", n);
    end_table(json, n);
}

static void put_empty_table(struct json_out *json, const char *key, const char *const *columns) {
    json_object_member(json, key);
    for (; *columns != NULL; columns++) {
        json_array_member(json, *columns);
        json_end(json, ']');
    }
    end_table(json, 0);
}

void firefox_put_shared(struct json_out *json, struct firefox_tables *tables) {
    static const char *const location_columns[] = {"source", "line", "column", NULL};
    json_object_member(json, "shared");
    put_stacks(json, tables);
    put_symbols(json, tables); /* numbers them, for the frames */
    put_frames(json, tables);
    put_functions(json, tables);
    put_resources(json, tables);
    put_sources(json, tables);
    put_empty_table(json, "sourceLocationTable", location_columns);
    json_array_member(json, "stringArray"); /* last: the others have asked for their strings */
    for (uint32_t i = 0; i < tables->n_strings; i++)
        json_string(json, tables->strings[i]);
    json_end(json, ']');
    json_end(json, '}');
}

/* A build id as symbol servers of that kind want it: its first 16 bytes read as a GUID, whose first
 * three numbers are little-endian, and an age of 0. "" when it is shorter, or not in hex, as those
 * of other linkers and tools may be. */
static void breakpad_id(const char *build_id, char id[34]) {
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    id[0] = '\0';
    if (strspn(build_id, "0123456789abcdefABCDEF") < 2 * sizeof order)
        return;
    for (size_t i = 0; i < 2 * sizeof order; i++) {
        char digit = build_id[2 * order[i / 2] + i % 2];
        id[i] = digit >= 'a' && digit <= 'f' ? (char)(digit - 'a' + 'A') : digit;
    }
    strcpy(id + 2 * sizeof order, "0");
}

void firefox_put_libs(struct json_out *json, const struct firefox_tables *tables) {
    const struct profile *profile = tables->profile;
    json_array_member(json, "libs");
    for (uint32_t i = 1; i < profile->n_modules; i++) {
        const struct profile_module *module = &profile->modules[i];
        char id[34];
        breakpad_id(module->build_id, id);
        json_begin(json, '{');
        json_string_member(json, "arch", "");
        json_string_member(json, "name", profile_basename(module->path));
        json_string_member(json, "path", module->path);
        json_string_member(json, "debugName", profile_basename(module->path));
        json_string_member(json, "debugPath", module->path);
        json_string_member(json, "breakpadId", id);
        json_key(json, "codeId");
        if (*module->build_id != '\0')
            json_string(json, module->build_id);
        else
            json_null(json);
        json_end(json, '}');
    }
    json_end(json, ']');
}
