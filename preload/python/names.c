/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * names.c - code objects and texts, read as far as they can be.
 */
#include "preload/python/names.h"

#include <string.h>

#include "preload/python/runtime.h"
#include "preload/python/thread.h"
#include "preload/sample/emit.h"

#define OBJECT_TYPE 8   /* in any object: its type */
#define QUALIFIED   160 /* bytes of a qualified name that are shown, and the rest is of the file */
#define PATH_PART   96  /* of a path that are read, from its end */

/* ---- texts ---- */

struct source {
    struct python_thread *python;
    uint64_t characters;
    uint64_t length;
    unsigned bytes; /* of a character */
};

/* A text of one block, as all have it that a compiler makes. False: it is none. */
static bool open_text(struct python_thread *python, uint64_t text, struct source *source) {
    const struct python_layout *layout = python_runtime.layout;
    uint64_t type, length, state;
    if (!python_read(python, text + OBJECT_TYPE, &type) || type != python_runtime.text_type ||
        !python_read(python, text + layout->length, &length) ||
        !python_read(python, text + layout->state, &state))
        return false;
    unsigned kind = state >> 2 & 7, is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    *source =
        (struct source){python, text + (is_ascii ? layout->ascii : layout->wide), length, kind};
    return is_compact && (kind == 1 || kind == 2 || kind == 4);
}

/* 0 beyond the end, and where it can't be read. */
static uint32_t character(const struct source *source, uint64_t i) {
    uint64_t at = source->characters + i * source->bytes, word;
    if (i >= source->length || !python_read(source->python, at & ~7ull, &word))
        return 0;
    word >>= 8 * (at & 7);
    return source->bytes == 1   ? (uint8_t)word
           : source->bytes == 2 ? (uint16_t)word
                                : (uint32_t)word;
}

/* ---- names ---- */

struct name {
    char *text;
    unsigned used, room;
};

/* As UTF-8; what does not fit is left out whole. */
static void add(struct name *name, uint32_t c) {
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    if (name->used + more >= name->room)
        return;
    name->text[name->used++] = (char)(lead[more] | c >> 6 * more);
    while (more-- > 0)
        name->text[name->used++] = (char)(0x80 | (c >> 6 * more & 0x3f));
}

static void add_from(struct name *name, const struct source *source, uint64_t from) {
    for (uint64_t i = from; i < source->length && name->used < name->room; i++) {
        uint32_t c = character(source, i);
        if (c == 0)
            return;
        add(name, c);
    }
}

/* Behind the last slash; of a package's __init__.py behind the one before. */
static uint64_t last_part(const struct source *path) {
    uint64_t i = path->length, seen = 0;
    for (; i > 0 && seen++ < PATH_PART; i--) {
        if (character(path, i - 1) != '/')
            continue;
        bool is_special = character(path, i) == '_' && character(path, i + 1) == '_';
        if (!is_special || i == path->length)
            return i;
    }
    return i;
}

static unsigned compose(struct python_thread *python, const struct python_sent *it) {
    struct name name = {.text = python->text, .room = QUALIFIED};
    struct source source;
    if (open_text(python, it->name, &source))
        add_from(&name, &source, 0);
    else
        add(&name, '?');
    name.room = sizeof python->text - 1;
    add(&name, ' ');
    add(&name, '(');
    if (open_text(python, it->file, &source))
        add_from(&name, &source, last_part(&source));
    else
        add(&name, '?');
    name.room = sizeof python->text;
    add(&name, ')');
    return name.used;
}

/* ---- code objects ---- */

static bool describe(struct python_thread *python, uint64_t code, struct python_sent *it) {
    const struct python_layout *layout = python_runtime.layout;
    it->code = code;
    return python_read(python, code + layout->name, &it->name) &&
           python_read(python, code + layout->file, &it->file) &&
           python_read(python, code + layout->lines, &it->lines);
}

static struct python_sent *place_of(struct python_thread *python, uint64_t code) {
    uint64_t hash = (code >> 4) * 0x9e3779b97f4a7c15ull;
    return &python->sent[hash >> (64 - PYTHON_SENT_BITS)];
}

static bool is_sent(struct python_thread *python, const struct python_sent *it) {
    return memcmp(place_of(python, it->code), it, sizeof *it) == 0;
}

enum python_code python_code_at(struct python_thread *python, uint64_t code,
                                struct python_sent *it) {
    uint64_t type;
    if (!describe(python, code, it))
        return PYTHON_CODE_NONE;
    if (is_sent(python, it))
        return PYTHON_CODE_SENT;
    if (!python_read(python, code + OBJECT_TYPE, &type) || type != python_runtime.code_type)
        return PYTHON_CODE_NONE;
    return it->name != 0 ? PYTHON_CODE_NEW : PYTHON_CODE_NAMELESS;
}

static uint64_t word_at(uint64_t address) {
    return *(const volatile uint64_t *)address;
}

bool python_code_is(const struct python_sent *it) {
    const struct python_layout *layout = python_runtime.layout;
    return word_at(it->code + layout->name) == it->name &&
           word_at(it->code + layout->file) == it->file &&
           word_at(it->code + layout->lines) == it->lines;
}

bool python_name_tell(struct agent_thread *thread, struct wire_slot *slot, uint64_t code) {
    struct python_thread *python = thread->python;
    struct python_sent it;
    if (!describe(python, code, &it))
        return false;
    if (is_sent(python, &it))
        return true; /* it stands in this sample more than once */
    unsigned bytes = compose(python, &it);
    if (!emit_name(thread, slot, WIRE_PYTHON | code, python->text, bytes))
        return false;
    *place_of(python, code) = it;
    python->has_sent = true;
    return true;
}
