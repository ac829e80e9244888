/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_dump.c - records of loaded and of moved code, all others by their size alone.
 */
#include "common/code/jit_dump.h"

#include <string.h>

#define MAGIC              0x4a695444u /* in the byte order of who wrote it */
#define VERSION            1u
#define SIZE_MAX_OF_HEADER 4096u

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

struct header {
    uint32_t magic, version, size;
};

struct record {
    uint32_t id, size; /* of all of it */
    uint64_t time;
};

struct code_load { /* followed by the name, a NUL, and the code */
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};

struct code_move {
    uint32_t pid, tid;
    uint64_t vma, old_address, new_address, size, index;
};

_Static_assert(sizeof(struct record) + sizeof(struct code_move) + PERF_MAP_NAME_MAX + 1 <=
                   JIT_DUMP_BYTES,
               "a record has room");

/* 0: there is more to come. */
static uint64_t take_header(const uint8_t *bytes, size_t n, uint64_t left, bool *broken) {
    struct header header;
    if (n < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    *broken = header.magic != MAGIC || header.version != VERSION || header.size < sizeof header ||
              header.size > SIZE_MAX_OF_HEADER;
    return *broken || header.size > left ? 0 : header.size;
}

static void take_load(struct perf_map *map, const uint8_t *bytes, size_t n) {
    struct code_load load;
    if (n <= sizeof load)
        return;
    memcpy(&load, bytes, sizeof load);
    const char *name = (const char *)bytes + sizeof load;
    size_t room = n - sizeof load;
    perf_map_add(map, load.address, load.size, name, strnlen(name, room));
}

/* The name as it is known at the old address: a copy, as its entry may be the one to go. */
static void take_move(struct perf_map *map, const uint8_t *bytes, size_t n) {
    char name[PERF_MAP_NAME_MAX + 1];
    struct code_move move;
    if (n < sizeof move)
        return;
    memcpy(&move, bytes, sizeof move);
    const char *known = perf_map_find(map, move.old_address);
    if (known == NULL)
        return;
    size_t length = strnlen(known, PERF_MAP_NAME_MAX);
    memcpy(name, known, length);
    perf_map_add(map, move.new_address, move.size, name, length);
}

/* The record at `bytes`, of which `n` are there and `left` are in the file. Its size; 0: more has
 * to come. */
static uint64_t take_record(struct perf_map *map, const uint8_t *bytes, size_t n, uint64_t left,
                            bool *broken) {
    struct record record;
    if (n < sizeof record)
        return 0;
    memcpy(&record, bytes, sizeof record);
    *broken = record.size < sizeof record;
    if (*broken || record.size > left)
        return 0;
    size_t whole = record.size < n ? record.size : n;
    if (whole < record.size && whole < JIT_DUMP_BYTES && record.id <= CODE_MOVE)
        return 0;
    if (record.id == CODE_LOAD)
        take_load(map, bytes + sizeof record, whole - sizeof record);
    else if (record.id == CODE_MOVE)
        take_move(map, bytes + sizeof record, whole - sizeof record);
    return record.size;
}

uint64_t jit_dump_read(struct perf_map *map, const struct jit_dump_part *part, bool *broken) {
    uint64_t into = 0;
    *broken = false;
    while (into < part->n) {
        const uint8_t *bytes = part->bytes + into;
        size_t n = part->n - into;
        uint64_t size = part->at + into == 0
                            ? take_header(bytes, n, part->left, broken)
                            : take_record(map, bytes, n, part->left - into, broken);
        if (size == 0)
            break;
        into += size;
    }
    return part->at + into;
}
