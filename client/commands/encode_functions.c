/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* encode_functions.c - frames with the same function, wherever it is called from, are one. */
#include "client/commands/encode_functions.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/code/frame.h"

static const char what[] = "functions of a trace";

struct encode_function {
    uint32_t module;
    uint64_t address;
};

static bool is_function(const void *entries, uint32_t number, const void *key) {
    const struct encode_function *f = (const struct encode_function *)entries + number;
    const struct encode_function *asked = key;
    return f->module == asked->module && f->address == asked->address;
}

static uint32_t intern(struct encode_functions *functions, const struct encode_function *function) {
    uint64_t hash = seeded_hash(seeded_hash(0, function->module), function->address);
    functions->function = memory_grow(functions->function, functions->n + 1, &functions->room,
                                      sizeof *functions->function, what);
    uint32_t *number =
        intern_find(&functions->index, hash, is_function, functions->function, function);
    if (*number == 0) {
        functions->function[++functions->n] = *function;
        *number = functions->n;
    }
    return *number;
}

static void make_room(struct encode_functions *functions, uint32_t frames) {
    uint32_t *of_frame = memory_new(frames, sizeof *of_frame, what);
    if (functions->frames > 0)
        memcpy(of_frame, functions->of_frame, functions->frames * sizeof *of_frame);
    free(functions->of_frame);
    functions->of_frame = of_frame;
    functions->frames = frames;
}

uint32_t encode_function_of(struct encode_functions *functions, uint32_t frame, const uint32_t *ids,
                            uint32_t n_ids) {
    struct frame_key key = {0}; /* of frames beyond the cap: they are one function */
    if (frame < functions->frames && functions->of_frame[frame] != 0)
        return functions->of_frame[frame];
    if (frame >= functions->frames)
        make_room(functions, frame < n_ids / 2 ? frame * 2 + 2 : n_ids);
    frame_get(ids[frame], &key);
    const struct encode_function function = {key.routine_module, key.routine};
    functions->of_frame[frame] = intern(functions, &function);
    return functions->of_frame[frame];
}

void encode_functions_free(struct encode_functions *functions) {
    free(functions->function);
    free(functions->of_frame);
    intern_free(&functions->index);
    *functions = (struct encode_functions){0};
}
