/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_row.c - frames to arrays.
 */
#include "client/remote/stack_row.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/base/memory.h"

/* A frame: a line of a location. */
struct frame {
    const struct profile_location *place;
    const struct profile_line *line;
    bool inlined;
};

struct frames {
    struct frame *list; /* the innermost first */
    uint32_t n, room;
};

static void add_frames(struct frames *frames, const struct profile_location *place) {
    for (uint32_t k = 0; k < place->n_lines; k++) {
        frames->list =
            memory_grow(frames->list, frames->n, &frames->room, sizeof *frames->list, "a stack");
        frames->list[frames->n++] = (struct frame){
            .place = place, .line = &place->lines[k], .inlined = k + 1 < place->n_lines};
    }
}

static void put_text(struct json_out *json, const struct profile *profile, const struct frame *f,
                     int column) {
    const struct profile_function *function = &profile->functions[f->line->function];
    const struct profile_module *module = &profile->modules[f->place->module];
    const char *const texts[] = {function->name, function->system_name, function->file,
                                 module->path, module->build_id};
    json_string(json, texts[column]);
}

static void put_number(struct json_out *json, const struct frame *f, int column) {
    char text[24];
    if (column == 0)
        json_number(json, f->line->line);
    else if (column == 2)
        json_number(json,
                    (f->inlined ? STACK_INLINED : 0) | (f->place->is_entry ? STACK_ENTRY : 0));
    else { /* more digits than some readers of JSON keep of a number */
        snprintf(text, sizeof text, "%llu", (unsigned long long)f->place->address);
        json_string(json, text);
    }
}

static uint64_t fnv1a(const char *text, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3;
    return hash;
}

char *stack_row_write(const struct profile *profile, uint32_t node, uint64_t *hash) {
    static const char *const texts[] = {"functions", "system_names", "files", "modules",
                                        "build_ids"};
    static const char *const numbers[] = {"lines", "addresses", "kinds"};
    struct frames frames = {0};
    FILE *out = memory_stream("a stack");
    struct json_out json = {.out = out};
    size_t bytes;
    for (uint32_t at = node; profile->nodes[at].parent != 0; at = profile->nodes[at].parent)
        add_frames(&frames, &profile->locations[profile->nodes[at].location]);
    for (int column = 0; column < 5; column++) {
        json_array_member(&json, texts[column]);
        for (uint32_t i = frames.n; i-- > 0;)
            put_text(&json, profile, &frames.list[i], column);
        json_end(&json, ']');
    }
    for (int column = 0; column < 3; column++) {
        json_array_member(&json, numbers[column]);
        for (uint32_t i = frames.n; i-- > 0;)
            put_number(&json, &frames.list[i], column);
        json_end(&json, ']');
    }
    free(frames.list);
    char *text = memory_stream_end(out, &bytes, "a stack");
    *hash = fnv1a(text, bytes);
    return text;
}
