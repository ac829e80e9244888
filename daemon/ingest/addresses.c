/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * addresses.c - a list of ranges, newest first, behind a cache of whole (routine, site) pairs: a
 * program has a few thousand of these, and each is seen over and over.
 */
#include "daemon/ingest/addresses.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/array_grow.h"
#include "common/code/code_copies.h"
#include "common/code/frame.h"
#include "common/code/jit_code.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"
#include "common/code/perf_map.h"
#include "common/code/system_call.h"
#include "common/wire/wire.h"

struct range {
    uint64_t start, end, bias;
    uint32_t module, generation;
    uint32_t number; /* of those that were to be added, from 1 on */
};

struct addresses {
    struct addresses_cache cache; /* first: see addresses_frame */
    struct range *range;
    uint32_t ranges, numbers; /* that were added, and that were to be */
    size_t room;
    uint32_t generation;        /* by which addresses are read; the cache belongs to it */
    bool remembers;             /* the cache is not empty */
    struct jit_code *jit;       /* NULL: generated code has no names */
    struct code_copies *copies; /* with jit; NULL: none is looked for */
    struct perf_map *sent;      /* names that agents have sent, by code object; NULL: none */
    struct frame_user *frames;
};

/* One that remembers nothing, for the next process: most of a build's are over before a walk. */
static _Atomic(struct addresses *) kept;

/* Of a short process no page of the cache is ever touched, so none is cleared for it. */
static struct addresses *make(void) {
    void *at = mmap(NULL, sizeof(struct addresses), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED ? at : NULL;
}

struct addresses *addresses_new(struct frame_user *frames) {
    struct addresses *map = atomic_exchange(&kept, NULL);
    if (map == NULL)
        map = make();
    if (map != NULL)
        map->frames = frames;
    return map;
}

void addresses_free(struct addresses *map) {
    if (map == NULL)
        return;
    jit_code_free(map->jit);
    code_copies_free(map->copies);
    perf_map_free(map->sent);
    free(map->range);
    if (!map->remembers) {
        memset(&map->cache + 1, 0, sizeof *map - sizeof map->cache);
        map = atomic_exchange(&kept, map);
    }
    if (map != NULL)
        munmap(map, sizeof *map);
}

uid_t addresses_uid(const struct addresses *map) {
    return frame_uid(map->frames);
}

void addresses_forget(struct addresses *map) {
    if (map->remembers)
        memset(&map->cache, 0, sizeof map->cache);
    map->remembers = false;
}

bool addresses_name_generated(struct addresses *map, pid_t pid, uid_t uid) {
    if (map->jit == NULL) {
        map->jit = jit_code_new(pid, uid);
        if (map->copies == NULL)
            map->copies = code_copies_new(pid);
        for (uint32_t i = 0; map->jit != NULL && i < map->ranges; i++)
            jit_code_module(map->jit, map->range[i].module, map->range[i].bias);
    }
    addresses_forget(map);
    return map->jit != NULL;
}

void addresses_refresh(struct addresses *map) {
    if (map->jit != NULL && jit_code_poll(map->jit))
        addresses_forget(map);
}

bool addresses_is_refused(const struct addresses *map) {
    return map->jit != NULL && jit_code_is_refused(map->jit);
}

bool addresses_add(struct addresses *map, uint64_t start, uint64_t end, uint64_t bias,
                   uint32_t module, uint32_t generation) {
    map->numbers++;
    if (!array_grow(&map->range, map->ranges, &map->room, sizeof *map->range))
        return false;
    addresses_forget(map);
    map->range[map->ranges++] = (struct range){start, end, bias, module, generation, map->numbers};
    if (map->jit != NULL)
        jit_code_module(map->jit, module, bias);
    return true;
}

void addresses_at(struct addresses *map, uint32_t generation) {
    if (map->generation == generation)
        return;
    map->generation = generation;
    addresses_forget(map);
}

static bool is_visible(const struct addresses *map, const struct range *r) {
    return r->generation <= map->generation;
}

uint32_t addresses_count(const struct addresses *map) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->ranges; i++)
        n += is_visible(map, &map->range[i]);
    return n;
}

void addresses_ranges(const struct addresses *map, struct code_range *into, uint32_t n) {
    for (uint32_t i = map->ranges; i-- > 0 && n > 0;) {
        const struct range *r = &map->range[i];
        if (is_visible(map, r))
            into[--n] = (struct code_range){r->start, r->end, r->bias, r->module, 0};
    }
}

void addresses_each_module(const struct addresses *map, void (*visit)(uint32_t module)) {
    for (uint32_t i = 0; i < map->ranges; i++)
        visit(map->range[i].module);
}

/* The newest range that covers an address; NULL: none does. */
static const struct range *find_range(const struct addresses *map, uint64_t at) {
    for (uint32_t i = map->ranges; i-- > 0;) {
        const struct range *r = &map->range[i];
        if (at >= r->start && at < r->end && is_visible(map, r))
            return r;
    }
    return NULL;
}

/* Also where its code is mapped a second time: *at is where the loader has mapped it then. */
static const struct range *find_code(const struct addresses *map, uint64_t *at) {
    const struct range *r = find_range(map, *at);
    uint64_t original = 0;
    if (r == NULL && map->jit != NULL && map->copies != NULL)
        original = code_copies_find(map->copies, *at);
    if (original == 0)
        return r;
    *at = original;
    return find_range(map, original);
}

void addresses_meet(struct addresses *map, uint64_t pc) {
    if (map->jit != NULL && find_range(map, pc) == NULL)
        (void)jit_code_name(map->jit, pc);
}

void addresses_tell(struct addresses *map, uint64_t code, const char *name, size_t length) {
    if (map->sent == NULL)
        map->sent = perf_map_new();
    if (map->sent == NULL)
        return;
    const char *known = perf_map_find(map->sent, code);
    if (known != NULL && strlen(known) == length && memcmp(known, name, length) == 0)
        return;
    if (known != NULL)
        addresses_forget(map);
    perf_map_add(map->sent, code, 1, name, length);
}

/* A function of Python, or a label, which is known by its name as generated code is. */
static uint64_t sent_name(struct addresses *map, uint64_t code) {
    const char *name = map->sent != NULL ? perf_map_find(map->sent, code) : NULL;
    return name != NULL ? jit_name_intern_for(map->frames, name) : JIT_UNNAMED;
}

/* `at` is where to look, `address` what to translate: a return address belongs to the call before
 * it. */
static uint32_t translate(struct addresses *map, uint64_t at, uint64_t address, uint64_t *in_file) {
    uint64_t there = at;
    const struct range *r = find_code(map, &there);
    if (r != NULL) {
        *in_file = address + (there - at) - r->bias;
        return r->module;
    }
    *in_file = map->jit != NULL ? jit_code_name(map->jit, at) : address;
    return map->jit != NULL ? MODULE_JIT : 0;
}

/* Generated code has no places: its addresses mean nothing outside its process. */
static uint32_t make_place(struct addresses *map, const struct range *r, uint64_t pc) {
    struct frame_key key = {0};
    if (r != NULL && r->module != 0) {
        key.site_module = r->module;
        key.site = pc - r->bias;
    }
    return frame_intern_for(map->frames, &key);
}

static uint32_t make_leaf(struct addresses *map, uint64_t pc) {
    const struct range *r = find_code(map, &pc);
    return make_place(map, r, pc);
}

uint32_t addresses_place(struct addresses *map, uint32_t n, uint64_t pc) {
    const struct range *r = NULL;
    for (uint32_t i = n < map->ranges ? n : map->ranges; i-- > 0 && r == NULL;)
        if (map->range[i].number == n)
            r = &map->range[i];
    return make_place(map, r != NULL && pc >= r->start && pc < r->end ? r : NULL, pc);
}

static uint32_t make_frame(struct addresses *map, uint64_t routine, uint64_t site) {
    struct frame_key key = {.routine = routine, .site = site};
    if (routine == WIRE_LEAF_PC)
        return make_leaf(map, site);
    if (wire_is_system_call(routine)) {
        key.routine_module = MODULE_JIT;
        key.routine =
            jit_name_intern_for(map->frames, system_call_name(routine & ~WIRE_SYSTEM_CALL));
    } else if (wire_is_python(routine)) {
        key.routine_module = MODULE_JIT;
        key.routine = sent_name(map, routine);
    } else if (wire_is_label(routine)) {
        key = (struct frame_key){.routine_module = MODULE_JIT,
                                 .routine = sent_name(map, routine),
                                 .site = FRAME_LABEL_SITE};
    } else if (routine >= WIRE_PSEUDO_MAX)
        key.routine_module = translate(map, routine, routine, &key.routine);
    if (wire_is_python(site)) {
        key.site_module = MODULE_JIT;
        key.site = sent_name(map, site);
    } else if (site != 0)
        key.site_module = translate(map, site - 1, site, &key.site);
    return frame_intern_for(map->frames, &key);
}

uint32_t addresses_translate(struct addresses *map, struct addresses_cached *entry,
                             uint64_t routine, uint64_t site) {
    map->remembers = true;
    entry->routine = routine;
    entry->site = site;
    entry->frame = make_frame(map, routine, site);
    return entry->frame;
}

uint32_t addresses_thread(struct addresses *map, const char *name) {
    char text[THREAD_NAME_ROOM + sizeof "[thread ]"];
    snprintf(text, sizeof text, "[thread %s]", name);
    const struct frame_key key = {.routine_module = MODULE_JIT,
                                  .routine = jit_name_intern_for(map->frames, text),
                                  .site = FRAME_THREAD_SITE};
    return frame_intern_for(map->frames, &key);
}
