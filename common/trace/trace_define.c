/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_define.c - tables from the daemon's ids to the numbers of one trace.
 */
#include "common/trace/trace_define.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/code/frame.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"

_Static_assert(TRACE_MODULE_GENERATED == MODULE_JIT, "generated code is no module");
_Static_assert(TRACE_FRAME_OVERFLOW == FRAME_OVERFLOW, "replay keeps the daemon's numbers");
_Static_assert(MODULE_BUILD_ID_MAX <= 4 * TRACE_BUILD_ID_WORDS, "a build-id fits");

bool trace_define_start(struct trace_define *define, trace_put_record *put, void *arg) {
    *define = (struct trace_define){
        .frames = calloc(FRAME_IDS_MAX, sizeof *define->frames),
        .modules = calloc(MODULE_PLACES, sizeof *define->modules),
        .names = calloc(JIT_NAMES_MAX + 1, sizeof *define->names),
        .last_frame = TRACE_FRAME_OVERFLOW,
        .put = put,
        .arg = arg,
    };
    if (define->frames == NULL || define->modules == NULL || define->names == NULL) {
        trace_define_end(define);
        return false;
    }
    define->frames[FRAME_OVERFLOW] = TRACE_FRAME_OVERFLOW;
    return true;
}

void trace_define_end(struct trace_define *define) {
    free(define->frames);
    free(define->modules);
    free(define->names);
    *define = (struct trace_define){0};
}

/* A text as it stands in a record: to its end at most TRACE_WORDS_MAX / 2 words. */
static uint32_t *text_words(const char *text, size_t *words) {
    size_t bytes = strnlen(text, 2 * TRACE_WORDS_MAX);
    *words = bytes / 4 + 1;
    uint32_t *filled = calloc(*words, 4);
    if (filled != NULL)
        memcpy(filled, text, bytes);
    else
        *words = 0;
    return filled;
}

static void put_text(struct trace_define *define, enum trace_kind kind, const uint32_t *words,
                     size_t n, const char *text) {
    size_t n_text;
    uint32_t *filled = text_words(text, &n_text);
    define->put(define->arg, kind, words, n, filled, n_text);
    free(filled);
}

static uint32_t module_number(struct trace_define *define, uint32_t id) {
    struct module_info info;
    struct stat file;
    uint32_t words[TRACE_MODULE_WORDS] = {0};
    if (id == MODULE_JIT)
        return TRACE_MODULE_GENERATED;
    if (!module_get(id, &info))
        return 0;
    struct trace_module *module = &define->modules[module_place(id)];
    if (module->id == id)
        return module->number;
    words[0] = (info.is_vdso ? TRACE_FLAG_VDSO : 0) | (uint32_t)info.build_id_len << 8;
    memcpy(words + 1, info.build_id, info.build_id_len);
    if (info.fd >= 0 && fstat(info.fd, &file) == 0) {
        const uint64_t stamp[2] = {(uint64_t)file.st_size, trace_file_time(&file)};
        memcpy(words + 1 + TRACE_BUILD_ID_WORDS, stamp, sizeof stamp);
    }
    put_text(define, TRACE_MODULE, words, TRACE_MODULE_WORDS, info.path);
    *module = (struct trace_module){id, ++define->last_module};
    return module->number;
}

static uint64_t name_number(struct trace_define *define, uint64_t id) {
    if (id == JIT_UNNAMED || id > JIT_NAMES_MAX)
        return JIT_UNNAMED;
    if (define->names[id] == 0) {
        put_text(define, TRACE_NAME, NULL, 0, jit_name((uint32_t)id));
        define->names[id] = ++define->last_name;
    }
    return define->names[id];
}

uint32_t trace_define_number(struct trace_define *define, uint32_t frame) {
    struct frame_key key;
    if (frame == FRAME_OVERFLOW || !frame_get(frame, &key))
        return TRACE_FRAME_OVERFLOW;
    uint32_t number = atomic_load_explicit(&define->frames[frame], memory_order_relaxed);
    if (number != 0) /* another process was faster */
        return number;
    if (define->last_frame + 1 >= TRACE_FRAMES_MAX)
        return TRACE_FRAME_OVERFLOW;
    uint32_t words[TRACE_FRAME_WORDS] = {module_number(define, key.routine_module),
                                         module_number(define, key.site_module)};
    const uint64_t address[2] = {
        key.routine_module == MODULE_JIT ? name_number(define, key.routine) : key.routine,
        key.site_module == MODULE_JIT ? name_number(define, key.site) : key.site,
    };
    memcpy(words + 2, address, sizeof address);
    define->put(define->arg, TRACE_FRAME, words, TRACE_FRAME_WORDS, NULL, 0);
    number = ++define->last_frame;
    atomic_store_explicit(&define->frames[frame], number, memory_order_release);
    return number;
}
