/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_words.h - what hours of a log refer to by number: strings, modules, functions, locations
 * and contexts. An hour adds those that were not there before it.
 *
 * A context is its caller's context and a location; number 0 is the root, which is above all
 * processes. Entry 0 of the other tables is empty, as in a profile. Gets memory by memory.h.
 */
#ifndef HCCT_HISTORY_WORDS_H
#define HCCT_HISTORY_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/profile/places.h"
#include "common/profile/profile.h"

struct history_context {
    uint32_t parent; /* a lower number */
    uint32_t location;
};

/* To be read; strings and lines are the pool's. */
struct history_words {
    struct pool pool;
    const char **strings;
    struct profile_module *modules;
    struct profile_function *functions;
    struct profile_location *locations;
    struct history_context *contexts;
    uint32_t n_strings, n_modules, n_functions, n_locations, n_contexts;
    uint32_t string_room, module_room, function_room, location_room, context_room;
};

void history_words_init(struct history_words *words);
/* Takes in what an hour has added; `bytes` must stay while the words do. False: it is damaged. */
bool history_words_add(struct history_words *words, const uint8_t *data, size_t bytes);
void history_words_free(struct history_words *words);

/* To be added to: the same as a profile of one process, whose contexts are nodes. */
struct history_known {
    struct profile *profile;
    struct places places;
    uint32_t *better; /* locations whose lines are others now */
    uint32_t n_better, better_room;
    uint32_t strings, modules, functions, locations, nodes; /* so many are in the log */
};

/* Knows all of the words, under the same numbers. False: something stands among them twice, which
 * no log of hcctd's has. To be freed in any case. */
bool history_known_init(struct history_known *known, const struct history_words *words);
void history_known_free(struct history_known *known);
uint32_t history_known_string(struct history_known *known, const char *text);
/* By location and node of the profile: its location, its context; the caller's to free. */
uint32_t *history_known_locations(struct history_known *known, const struct profile *profile);
uint32_t *history_known_contexts(struct history_known *known, const struct profile *profile,
                                 const uint32_t *locations);
/* Writes what is not in the log, for history_words_add(). */
void history_known_write(const struct history_known *known, FILE *out);

#endif
