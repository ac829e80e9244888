/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * places.c - an address in a file that a build-id tells is one place.
 */
#include "common/profile/places.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/copy.h"

static bool same_place(const void *entries, uint32_t i, const void *key) {
    const struct places *places = entries;
    const struct profile_location *have = &places->to->locations[places->list[i]], *want = key;
    return have->module == want->module && have->address == want->address &&
           have->is_entry == want->is_entry && have->routine == want->routine;
}

static uint32_t *find(struct places *places, const struct profile_location *place) {
    uint64_t hash = seeded_hash(seeded_hash(place->module, place->address),
                                place->routine * 2 + place->is_entry);
    return intern_find(&places->by_place, hash, same_place, places, place);
}

static bool has_build_id(const struct profile *profile, const struct profile_location *place) {
    return place->module != 0 && *profile->modules[place->module].build_id != '\0';
}

static bool is_named(const struct profile *profile, const struct profile_location *location) {
    return location->n_lines > 0 &&
           !profile_is_place_name(profile->functions[location->lines[0].function].name);
}

static void append(struct places *places, uint32_t *slot, uint32_t location) {
    if (places->n == 0)
        places->n = 1;
    places->list =
        memory_grow(places->list, places->n, &places->room, sizeof *places->list, "locations");
    places->list[places->n] = location;
    *slot = places->n++;
}

void places_know(struct places *places, uint32_t location) {
    const struct profile_location *place = &places->to->locations[location];
    if (!has_build_id(places->to, place))
        return;
    uint32_t *slot = find(places, place);
    if (*slot == 0)
        append(places, slot, location);
}

uint32_t places_add(struct places *places, const struct profile *from, uint32_t location,
                    bool *better) {
    const struct profile_location *source = &from->locations[location];
    struct profile *to = places->to;
    if (better != NULL)
        *better = false;
    if (!has_build_id(from, source))
        return copy_location(to, from, location);
    struct profile_location place = *source;
    place.module = copy_module(to, from, place.module);
    uint32_t *slot = find(places, &place);
    if (*slot == 0) {
        uint32_t copy = copy_location(to, from, location);
        append(places, slot, copy);
        return copy;
    }
    uint32_t have = places->list[*slot];
    profile_set_effects(to, have, source->effect, source->self_effect);
    if (!is_named(to, &to->locations[have]) && is_named(from, source)) {
        copy_lines(to, have, from, location);
        if (better != NULL)
            *better = true;
    }
    return have;
}

void places_free(struct places *places) {
    intern_free(&places->by_place);
    free(places->list);
}
