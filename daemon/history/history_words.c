/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_words.c - table by table: how many, then each. A location says its number: one that is
 * there already gets other lines.
 */
#include "daemon/history/history_words.h"

#include <stdlib.h>
#include <string.h>

#include "common/profile/profile_index.h"
#include "daemon/history/history_pack.h"

#define LINES_MAX 1000 /* functions that are inlined at one address (pprof_message_read.c) */
#define ROOT      1u   /* node of `known` that is context 0 */

/* ---- reading ---- */

void history_words_init(struct history_words *words) {
    *words = (struct history_words){.n_strings = 0};
    words->strings =
        memory_grow(NULL, 0, &words->string_room, sizeof *words->strings, "names of the past");
    words->strings[words->n_strings++] = "";
#define BEGIN(table, room)                                                                         \
    (words->table = memory_grow(NULL, 0, &words->room, sizeof *words->table, "the past"),          \
     memset(words->table, 0, sizeof *words->table), words->n_##table = 1)
    BEGIN(modules, module_room);
    BEGIN(functions, function_room);
    BEGIN(locations, location_room);
    BEGIN(contexts, context_room);
#undef BEGIN
    words->modules[0] = (struct profile_module){.path = "", .build_id = ""};
    words->functions[0] = (struct profile_function){.name = "", .system_name = "", .file = ""};
}

void history_words_free(struct history_words *words) {
    free(words->strings);
    free(words->modules);
    free(words->functions);
    free(words->locations);
    free(words->contexts);
    pool_free(&words->pool);
}

static const char *read_string(const struct history_words *words, struct unpack *in) {
    return words->strings[unpack_below(in, words->n_strings)];
}

#define GROW(words, table, room)                                                                   \
    ((words)->table = memory_grow((words)->table, (words)->n_##table, &(words)->room,              \
                                  sizeof *(words)->table, "the past"))

static void read_strings(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        GROW(words, strings, string_room);
        words->strings[words->n_strings++] = unpack_text(in);
    }
}

static void read_modules(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        GROW(words, modules, module_room);
        struct profile_module *module = &words->modules[words->n_modules++];
        *module = (struct profile_module){.path = read_string(words, in)};
        module->build_id = read_string(words, in);
    }
}

static void read_functions(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        GROW(words, functions, function_room);
        struct profile_function *function = &words->functions[words->n_functions++];
        *function = (struct profile_function){.name = read_string(words, in)};
        function->system_name = read_string(words, in);
        function->file = read_string(words, in);
        function->start_line = (uint32_t)unpack_number(in);
    }
}

static void read_lines(struct history_words *words, struct unpack *in,
                       struct profile_location *location) {
    location->n_lines = unpack_below(in, LINES_MAX + 1);
    location->lines = pool_alloc(&words->pool, (location->n_lines + 1) * sizeof *location->lines);
    for (uint32_t k = 0; k < location->n_lines; k++) {
        location->lines[k].function = unpack_below(in, words->n_functions);
        location->lines[k].line = (uint32_t)unpack_number(in);
    }
}

static void read_locations(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        uint32_t number = unpack_below(in, (uint64_t)words->n_locations + 1);
        GROW(words, locations, location_room);
        words->n_locations += number == words->n_locations;
        struct profile_location *location = &words->locations[number];
        *location = (struct profile_location){.module = unpack_below(in, words->n_modules)};
        location->address = unpack_number(in);
        location->routine = unpack_number(in);
        location->is_entry = unpack_number(in) != 0;
        read_lines(words, in, location);
    }
}

static void read_contexts(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        uint32_t up = unpack_below(in, (uint64_t)words->n_contexts + 1);
        GROW(words, contexts, context_room);
        in->bad |= up == 0;
        words->contexts[words->n_contexts] =
            (struct history_context){words->n_contexts - up, unpack_below(in, words->n_locations)};
        words->n_contexts++;
    }
}

bool history_words_add(struct history_words *words, const uint8_t *data, size_t bytes) {
    struct unpack in = {data, data + bytes, false};
    read_strings(words, &in);
    read_modules(words, &in);
    read_functions(words, &in);
    read_locations(words, &in);
    read_contexts(words, &in);
    return !in.bad && in.at == in.end;
}

/* ---- adding to them ---- */

bool history_known_init(struct history_known *known, const struct history_words *words) {
    struct profile *profile = profile_new();
    *known = (struct history_known){.profile = profile, .places = {.to = profile}};
    for (uint32_t i = 1; i < words->n_strings; i++)
        profile_string_number(profile, words->strings[i]);
    for (uint32_t i = 1; i < words->n_modules; i++)
        profile_add_module(profile, words->modules[i].path, words->modules[i].build_id);
    for (uint32_t i = 1; i < words->n_functions; i++) {
        const struct profile_function *function = &words->functions[i];
        profile_add_function(profile, function->name, function->system_name, function->file,
                             function->start_line);
    }
    for (uint32_t i = 1; i < words->n_locations; i++)
        places_know(&known->places, profile_intern_location(profile, &words->locations[i]));
    profile_add_process(profile, &(struct profile_process){.exe = ""});
    for (uint32_t i = 1; i < words->n_contexts; i++)
        profile_add_node(profile, words->contexts[i].parent + ROOT, words->contexts[i].location, 0,
                         0);
    known->strings = words->n_strings;
    known->modules = words->n_modules;
    known->functions = words->n_functions;
    known->locations = words->n_locations;
    known->nodes = profile->n_nodes;
    return profile->index->n_strings >= known->strings && profile->n_modules >= known->modules &&
           profile->n_functions >= known->functions && profile->n_locations >= known->locations;
}

void history_known_free(struct history_known *known) {
    places_free(&known->places);
    profile_free(known->profile);
    free(known->better);
}

uint32_t history_known_string(struct history_known *known, const char *text) {
    return profile_string_number(known->profile, text);
}

static void note_better(struct history_known *known, uint32_t location) {
    known->better = memory_grow(known->better, known->n_better, &known->better_room,
                                sizeof *known->better, "locations");
    known->better[known->n_better++] = location;
}

uint32_t *history_known_locations(struct history_known *known, const struct profile *profile) {
    uint32_t *location = memory_new(profile->n_locations, sizeof *location, "locations");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        bool better;
        location[i] = places_add(&known->places, profile, i, &better);
        if (better && location[i] < known->locations)
            note_better(known, location[i]);
    }
    return location;
}

uint32_t *history_known_contexts(struct history_known *known, const struct profile *profile,
                                 const uint32_t *locations) {
    uint32_t *context = memory_new(profile->n_nodes, sizeof *context, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->parent != 0)
            context[i] = profile_add_node(known->profile, context[node->parent] + ROOT,
                                          locations[node->location], 0, 0) -
                         ROOT;
    }
    return context;
}

/* ---- writing ---- */

static void put_string(FILE *out, const struct history_known *known, const char *text) {
    pack_number(out, profile_string_number(known->profile, text));
}

static void put_location(FILE *out, const struct profile *profile, uint32_t number) {
    const struct profile_location *location = &profile->locations[number];
    pack_number(out, number);
    pack_number(out, location->module);
    pack_number(out, location->address);
    pack_number(out, location->routine);
    pack_number(out, location->is_entry);
    pack_number(out, location->n_lines);
    for (uint32_t k = 0; k < location->n_lines; k++) {
        pack_number(out, location->lines[k].function);
        pack_number(out, location->lines[k].line);
    }
}

static void put_functions(FILE *out, const struct history_known *known) {
    const struct profile *profile = known->profile;
    pack_number(out, profile->n_functions - known->functions);
    for (uint32_t i = known->functions; i < profile->n_functions; i++) {
        put_string(out, known, profile->functions[i].name);
        put_string(out, known, profile->functions[i].system_name);
        put_string(out, known, profile->functions[i].file);
        pack_number(out, profile->functions[i].start_line);
    }
}

void history_known_write(const struct history_known *known, FILE *out) {
    const struct profile *profile = known->profile;
    const struct profile_index *index = profile->index;
    pack_number(out, index->n_strings - known->strings);
    for (uint32_t i = known->strings; i < index->n_strings; i++)
        pack_text(out, index->strings[i]);
    pack_number(out, profile->n_modules - known->modules);
    for (uint32_t i = known->modules; i < profile->n_modules; i++) {
        put_string(out, known, profile->modules[i].path);
        put_string(out, known, profile->modules[i].build_id);
    }
    put_functions(out, known);
    pack_number(out, known->n_better + profile->n_locations - known->locations);
    for (uint32_t i = 0; i < known->n_better; i++)
        put_location(out, profile, known->better[i]);
    for (uint32_t i = known->locations; i < profile->n_locations; i++)
        put_location(out, profile, i);
    pack_number(out, profile->n_nodes - known->nodes);
    for (uint32_t i = known->nodes; i < profile->n_nodes; i++) {
        pack_number(out, i - profile->nodes[i].parent);
        pack_number(out, profile->nodes[i].location);
    }
}
