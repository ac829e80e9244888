/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_definitions.c - definitions to ids.
 *
 * A file is believed to be the module when its build-id says so; without one, when it has the size
 * and the time of change that it had. Otherwise its functions get names of last resort.
 */
#include "common/trace/trace_definitions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/array_grow.h"
#include "common/code/frame.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"

#define TO_BE_ASKED_FOR UINT32_MAX /* no id is so large */

static const char no_memory[] = "there is no memory for it";

static const char *add(struct trace_ids *ids, uint32_t id) {
    if (ids->n >= TRACE_FRAMES_MAX)
        return "it defines too much";
    if (!array_grow(&ids->id, ids->n, &ids->room, sizeof *ids->id))
        return no_memory;
    ids->id[ids->n++] = id;
    return NULL;
}

/* The next frame is that key; NULL: there is none, but this id. */
static const char *add_frame(struct trace_definitions *defined, const struct frame_key *key,
                             uint32_t id) {
    if (!defined->by_user)
        return add(&defined->frames, key != NULL ? frame_intern(key) : id);
    if (!array_grow(&defined->key, defined->frames.n, &defined->key_room, sizeof *defined->key))
        return no_memory;
    if (key != NULL)
        defined->key[defined->frames.n] = *key;
    return add(&defined->frames, id);
}

bool trace_definitions_start(struct trace_definitions *defined, bool by_user) {
    *defined = (struct trace_definitions){.by_user = by_user};
    return add(&defined->modules, 0) == NULL && add(&defined->names, JIT_UNNAMED) == NULL &&
           add_frame(defined, NULL, 0) == NULL && add_frame(defined, NULL, FRAME_OVERFLOW) == NULL;
}

void trace_definitions_end(struct trace_definitions *defined) {
    free(defined->modules.id);
    free(defined->names.id);
    free(defined->frames.id);
    free(defined->key);
    *defined = (struct trace_definitions){0};
}

/* The text that fills these words, or NULL; none at all is "". */
static const char *text_of(const uint32_t *words, size_t n) {
    const char *text = (const char *)words;
    if (n == 0)
        return "";
    return memchr(text, '\0', 4 * n) != NULL ? text : NULL;
}

/* ---- modules ---- */

/* Without a build-id: the same file still? */
static bool is_unchanged(const char *path, const uint32_t *words) {
    struct stat file;
    uint64_t stamp[2];
    memcpy(stamp, words + 1 + TRACE_BUILD_ID_WORDS, sizeof stamp);
    return path[0] == '/' && stat(path, &file) == 0 && (uint64_t)file.st_size == stamp[0] &&
           trace_file_time(&file) == stamp[1];
}

/* The vdso of this machine's kernel, when it is that of the trace; else 0. */
static uint32_t own_vdso(const struct module_mapping *mapping) {
    struct module_info info;
    uint32_t id = module_intern(&(struct module_mapping){.path = "", .is_vdso = true});
    bool same = module_get(id, &info) && info.build_id_len == mapping->build_id_len &&
                memcmp(info.build_id, mapping->build_id, info.build_id_len) == 0;
    return same ? id : 0;
}

static const char *take_module(struct trace_definitions *defined, const uint32_t *words, size_t n) {
    const char *path =
        n > TRACE_MODULE_WORDS ? text_of(words + TRACE_MODULE_WORDS, n - TRACE_MODULE_WORDS) : NULL;
    uint32_t build_id_len = words[0] >> 8, id = 0;
    if (path == NULL || build_id_len > MODULE_BUILD_ID_MAX)
        return "a module is no module";
    const struct module_mapping mapping = {
        .uid = defined->by_user ? MODULE_NOBODY : geteuid(),
        .path = path,
        .build_id = (const uint8_t *)(words + 1),
        .build_id_len = (uint8_t)build_id_len,
    };
    if ((words[0] & TRACE_FLAG_VDSO) != 0 && build_id_len > 0)
        id = own_vdso(&mapping);
    if (id == 0 && build_id_len == 0 && is_unchanged(path, words))
        id = module_intern_path(path);
    if (id == 0)
        id = module_intern(&mapping);
    return id != 0 ? add(&defined->modules, id) : "it has too many modules";
}

/* ---- names and frames ---- */

static const char *take_name(struct trace_definitions *defined, const uint32_t *words, size_t n) {
    const char *name = text_of(words, n);
    return name != NULL ? add(&defined->names, jit_name_intern(name)) : "a name has no end";
}

/* A module and an address in it, from numbers to ids. */
static bool take_place(const struct trace_definitions *defined, uint32_t *module,
                       uint64_t *address) {
    if (*module != TRACE_MODULE_GENERATED) {
        if (*module >= defined->modules.n)
            return false;
        *module = defined->modules.id[*module];
        return true;
    }
    if (*address >= defined->names.n)
        return false;
    *module = MODULE_JIT;
    *address = defined->names.id[*address];
    return true;
}

static const char *take_frame(struct trace_definitions *defined, const uint32_t *words, size_t n) {
    if (n != TRACE_FRAME_WORDS)
        return "a frame is no frame";
    struct frame_key key = {.routine_module = words[0], .site_module = words[1]};
    memcpy(&key.routine, words + 2, sizeof key.routine);
    memcpy(&key.site, words + 4, sizeof key.site);
    if (!take_place(defined, &key.routine_module, &key.routine) ||
        !take_place(defined, &key.site_module, &key.site))
        return "a frame names what is not defined";
    return add_frame(defined, &key, TO_BE_ASKED_FOR);
}

const char *trace_definitions_take(struct trace_definitions *defined, enum trace_kind kind,
                                   const uint32_t *words, size_t n) {
    switch (kind) {
    case TRACE_MODULE:
        return take_module(defined, words, n);
    case TRACE_NAME:
        return take_name(defined, words, n);
    case TRACE_FRAME:
        return take_frame(defined, words, n);
    default:
        return "it is no definition";
    }
}

uint32_t trace_definitions_frame(const struct trace_definitions *defined, uint32_t number,
                                 struct frame_user *user) {
    uint32_t id = defined->frames.id[number];
    if (id != TO_BE_ASKED_FOR)
        return id;
    struct frame_key key = defined->key[number];
    key.routine_module = module_adopt(key.routine_module, frame_uid(user));
    key.site_module = module_adopt(key.site_module, frame_uid(user));
    if (key.routine_module == MODULE_JIT)
        key.routine = jit_name_intern_for(user, jit_name((uint32_t)key.routine));
    if (key.site_module == MODULE_JIT)
        key.site = jit_name_intern_for(user, jit_name((uint32_t)key.site));
    return frame_intern_for(user, &key);
}
