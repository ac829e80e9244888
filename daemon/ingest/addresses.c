/*
 * addresses.c - a list of ranges, newest first, behind a cache of whole (routine, site) pairs: a
 * program has a few thousand of these, and each is seen over and over.
 */
#include "daemon/ingest/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "common/wire.h"
#include "daemon/code/frame.h"

#define CACHE_BITS 13 /* direct-mapped: a collision costs a search, nothing else */

struct range {
    uint64_t start, end, bias;
    uint32_t module;
};

struct cached {
    uint64_t routine, site;
    uint32_t frame; /* 0: empty */
};

struct addresses {
    struct range *range;
    uint32_t ranges, room;
    struct cached cache[1u << CACHE_BITS];
};

struct addresses *addresses_new(void) {
    return calloc(1, sizeof(struct addresses));
}

void addresses_free(struct addresses *map) {
    if (map != NULL)
        free(map->range);
    free(map);
}

bool addresses_add(struct addresses *map, uint64_t start, uint64_t end, uint64_t bias,
                   uint32_t module) {
    if (map->ranges == map->room) {
        uint32_t room = map->room != 0 ? 2 * map->room : 32;
        struct range *range = realloc(map->range, room * sizeof *range);
        if (range == NULL)
            return false;
        map->range = range;
        map->room = room;
    }
    map->range[map->ranges++] = (struct range){start, end, bias, module};
    return true;
}

void addresses_forget(struct addresses *map) {
    memset(map->cache, 0, sizeof map->cache);
}

/* `at` is where to look, `address` what to translate: a return address belongs to the call before
 * it. */
static uint32_t translate(const struct addresses *map, uint64_t at, uint64_t address,
                          uint64_t *in_file) {
    for (uint32_t i = map->ranges; i-- > 0;) {
        const struct range *r = &map->range[i];
        if (at >= r->start && at < r->end) {
            *in_file = address - r->bias;
            return r->module;
        }
    }
    *in_file = address;
    return 0;
}

static uint32_t make_frame(const struct addresses *map, uint64_t routine, uint64_t site) {
    struct frame_key key = {.routine = routine, .site = site};
    if (routine >= WIRE_PSEUDO_MAX)
        key.routine_module = translate(map, routine, routine, &key.routine);
    if (site != 0)
        key.site_module = translate(map, site - 1, site, &key.site);
    return frame_intern(&key);
}

uint32_t addresses_frame(struct addresses *map, uint64_t routine, uint64_t site) {
    uint64_t hash = (routine * 0x9e3779b97f4a7c15ull ^ site) * 0xff51afd7ed558ccdull;
    struct cached *c = &map->cache[hash >> (64 - CACHE_BITS)];
    if (c->frame == 0 || c->routine != routine || c->site != site) {
        c->routine = routine;
        c->site = site;
        c->frame = make_frame(map, routine, site);
    }
    return c->frame;
}
