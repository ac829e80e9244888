/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * firefox_tables.c - what a profile's nodes, locations and functions are in the shared tables.
 *
 * Stacks are nodes without the roots, frames are locations, resources and libraries are modules,
 * each in the profile's order; functions are found by module and name.
 */
#include "common/render/firefox_tables.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

/* What the viewer's numbers hold; a larger address isn't one of a file. */
#define ADDRESS_LIMIT (1ull << 53)

static bool same_function(const void *entries, uint32_t i, const void *key) {
    const struct firefox_function *have = &((const struct firefox_tables *)entries)->functions[i];
    const struct firefox_function *want = key;
    return have->name == want->name && have->module == want->module;
}

static uint32_t find_function(struct firefox_tables *t, const struct profile_location *place) {
    const struct profile_function *source = &t->profile->functions[place->lines[0].function];
    struct firefox_function function = {.name = source->name, .module = place->module, .file = ""};
    uint32_t *slot = intern_find(&t->by_name, seeded_hash(place->module, (uintptr_t)source->name),
                                 same_function, t, &function);
    if (*slot == 0) {
        t->functions = memory_grow(t->functions, t->n_functions, &t->function_room, sizeof function,
                                   "functions");
        t->functions[t->n_functions] = function;
        *slot = t->n_functions++;
    }
    if (*t->functions[*slot].file == '\0' && *source->file != '\0') {
        t->functions[*slot].file = source->file;
        t->functions[*slot].start_line = source->start_line;
    }
    return *slot;
}

bool firefox_has_address(const struct profile_location *place) {
    return place->module != 0 && place->address != 0 && place->address < ADDRESS_LIMIT;
}

/* Where the function begins that this location is the whole of. */
static void set_entry(struct firefox_tables *t, uint32_t location) {
    const struct profile_location *place = &t->profile->locations[location];
    struct firefox_function *function = &t->functions[t->function[location]];
    if (!place->is_entry || !firefox_has_address(place) || t->depth[location] > 0 ||
        (function->has_entry && function->entry <= place->address))
        return;
    function->has_entry = true;
    function->entry = place->address;
}

static void make_stacks(struct firefox_tables *t) {
    const struct profile *profile = t->profile;
    uint32_t n = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->parent == 0)
            continue;
        t->stack[i] = n++;
        if (node->inlined)
            t->depth[node->location] = t->depth[profile->nodes[node->parent].location] + 1;
    }
}

void firefox_tables_make(struct firefox_tables *t, const struct profile *profile) {
    *t =
        (struct firefox_tables){.profile = profile, .n_functions = 1, .n_strings = 1, .n_files = 1};
    t->functions = memory_grow(NULL, 0, &t->function_room, sizeof *t->functions, "functions");
    t->strings = memory_grow(NULL, 0, &t->string_room, sizeof *t->strings, "names");
    t->files = memory_grow(NULL, 0, &t->file_room, sizeof *t->files, "files");
    t->strings[0] = t->files[0] = "";
    t->stack = memory_new(profile->n_nodes, sizeof *t->stack, "stacks");
    t->function = memory_new(profile->n_locations, sizeof *t->function, "functions");
    t->depth = memory_new(profile->n_locations, sizeof *t->depth, "frames");
    make_stacks(t);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        t->function[i] = find_function(t, &profile->locations[i]);
        set_entry(t, i);
    }
}

void firefox_tables_free(struct firefox_tables *tables) {
    free(tables->stack);
    free(tables->function);
    free(tables->depth);
    free(tables->functions);
    free(tables->strings);
    free(tables->files);
    intern_free(&tables->by_name);
    intern_free(&tables->by_text);
    intern_free(&tables->by_file);
}

static bool same_string(const void *entries, uint32_t i, const void *key) {
    return strcmp(((const struct firefox_tables *)entries)->strings[i], key) == 0;
}

uint32_t firefox_string(struct firefox_tables *t, const char *text) {
    uint32_t *slot;
    if (*text == '\0')
        return 0;
    slot = intern_find(&t->by_text, seeded_hash_bytes(0, text, strlen(text)), same_string, t, text);
    if (*slot == 0) {
        t->strings =
            memory_grow(t->strings, t->n_strings, &t->string_room, sizeof *t->strings, "names");
        t->strings[t->n_strings] = text;
        *slot = t->n_strings++;
    }
    return *slot;
}

static bool same_file(const void *entries, uint32_t i, const void *key) {
    return ((const struct firefox_tables *)entries)->files[i] == key;
}

uint32_t firefox_source(struct firefox_tables *t, const char *file) {
    uint32_t *slot = intern_find(&t->by_file, seeded_hash(0, (uintptr_t)file), same_file, t, file);
    if (*slot == 0) {
        t->files = memory_grow(t->files, t->n_files, &t->file_room, sizeof *t->files, "files");
        t->files[t->n_files] = file;
        *slot = t->n_files++;
    }
    return *slot - 1;
}
