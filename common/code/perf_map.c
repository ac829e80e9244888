/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_map.c - lines to functions, kept in a treap by address.
 *
 * Functions come in any order and replace each other one by one, however many there are; a sorted
 * array would have to be moved for each. The functions in the tree never overlap, so that order by
 * start is order by end, and the tree can be cut at any address.
 */
#include "common/code/perf_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"

#define NUMBER_DIGITS 16
#define LINE_BYTES    (2 * (2 + NUMBER_DIGITS + 1) + PERF_MAP_NAME_MAX + 1)
#define NONE          0u /* index 0 of the entries stands for an empty tree */

struct entry {
    uint64_t start, end;
    char *name;
    uint32_t left, right;
    uint32_t priority; /* no child has a higher one */
};

struct perf_map {
    struct entry *entry;
    uint32_t used; /* of the array */
    size_t room;
    uint32_t root, free; /* the free ones are linked by `left` */
    uint64_t random;
    size_t name_bytes;
    struct perf_map_stats stats;
    char line[LINE_BYTES]; /* what has come of a line that has not ended */
    size_t line_bytes;
};

struct perf_map *perf_map_new(void) {
    struct perf_map *map = calloc(1, sizeof *map);
    if (map != NULL) {
        map->used = NONE + 1;
        map->random = (uint64_t)(uintptr_t)map; /* as good as secret: addresses are random */
    }
    return map;
}

void perf_map_free(struct perf_map *map) {
    if (map == NULL)
        return;
    for (uint32_t i = NONE + 1; i < map->used; i++)
        free(map->entry[i].name);
    free(map->entry);
    free(map);
}

/* ---- the tree ---- */

/* Cuts a tree: what ends at `at` or before goes to *low, the rest to *high. */
static void cut_by_end(struct entry *e, uint32_t tree, uint64_t at, uint32_t *low, uint32_t *high) {
    while (tree != NONE) {
        if (e[tree].end <= at) {
            *low = tree;
            low = &e[tree].right;
            tree = *low;
        } else {
            *high = tree;
            high = &e[tree].left;
            tree = *high;
        }
    }
    *low = *high = NONE;
}

/* What starts before `at` goes to *low, the rest to *high. */
static void cut_by_start(struct entry *e, uint32_t tree, uint64_t at, uint32_t *low,
                         uint32_t *high) {
    while (tree != NONE) {
        if (e[tree].start < at) {
            *low = tree;
            low = &e[tree].right;
            tree = *low;
        } else {
            *high = tree;
            high = &e[tree].left;
            tree = *high;
        }
    }
    *low = *high = NONE;
}

/* One tree of two, all of `low` before all of `high`. */
static uint32_t join(struct entry *e, uint32_t low, uint32_t high) {
    uint32_t root = NONE, *at = &root;
    while (low != NONE && high != NONE) {
        if (e[low].priority >= e[high].priority) {
            *at = low;
            at = &e[low].right;
            low = *at;
        } else {
            *at = high;
            at = &e[high].left;
            high = *at;
        }
    }
    *at = low != NONE ? low : high;
    return root;
}

static void give_back(struct perf_map *map, uint32_t i) {
    struct entry *e = &map->entry[i];
    map->name_bytes -= strlen(e->name) + 1;
    free(e->name);
    *e = (struct entry){.left = map->free};
    map->free = i;
    map->stats.entries--;
}

/* Takes the tree apart from its root on. */
static void give_all_back(struct perf_map *map, uint32_t tree) {
    while (tree != NONE) {
        uint32_t rest = join(map->entry, map->entry[tree].left, map->entry[tree].right);
        give_back(map, tree);
        map->stats.replaced++;
        tree = rest;
    }
}

static uint32_t take_entry(struct perf_map *map) {
    uint32_t i = map->free;
    if (i != NONE) {
        map->free = map->entry[i].left;
        return i;
    }
    if (!array_grow(&map->entry, map->used, &map->room, sizeof *map->entry))
        return NONE;
    return map->used++;
}

static uint32_t next_priority(struct perf_map *map) {
    map->random = map->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(map->random >> 32);
}

static char *copy_name(const char *name, size_t length) {
    char *copy = strndup(name, length);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return copy;
}

/* A function that finds no room still hides those that it overlaps: their code is gone. */
static void add(struct perf_map *map, uint64_t start, uint64_t end, const char *name,
                size_t length) {
    uint32_t low, high, hidden, i = NONE;
    char *copy;
    cut_by_end(map->entry, map->root, start, &low, &high);
    cut_by_start(map->entry, high, end, &hidden, &high);
    give_all_back(map, hidden);
    if (map->stats.entries < PERF_MAP_ENTRIES &&
        map->name_bytes + length + 1 <= PERF_MAP_NAME_BYTES &&
        (copy = copy_name(name, length)) != NULL) {
        i = take_entry(map);
        if (i == NONE)
            free(copy);
    }
    if (i == NONE) {
        map->stats.dropped++;
    } else {
        map->entry[i] = (struct entry){start, end, copy, NONE, NONE, next_priority(map)};
        map->name_bytes += strlen(copy) + 1;
        map->stats.entries++;
        map->stats.added++;
        low = join(map->entry, low, i);
    }
    map->root = join(map->entry, low, high);
}

const char *perf_map_find(const struct perf_map *map, uint64_t address) {
    uint32_t i = map->root;
    while (i != NONE) {
        const struct entry *e = &map->entry[i];
        if (address >= e->start && address < e->end)
            return e->name;
        i = address < e->start ? e->left : e->right;
    }
    return NULL;
}

/* ---- the text ---- */

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A hex number, with or without "0x", and the blanks behind it; NULL: there is none. */
static const char *parse_number(const char *at, const char *end, uint64_t *number) {
    unsigned digits = 0;
    *number = 0;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    for (; at < end && digit_value(*at) >= 0; at++, digits++)
        *number = *number << 4 | (uint64_t)digit_value(*at);
    if (digits == 0 || digits > NUMBER_DIGITS || at == end || *at != ' ')
        return NULL;
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* At most PERF_MAP_NAME_MAX bytes, and no half of a UTF-8 character at the end. */
static size_t name_length(const char *name, const char *end) {
    size_t length = (size_t)(end - name);
    const char *nul = memchr(name, '\0', length);
    if (nul != NULL)
        length = (size_t)(nul - name);
    if (length <= PERF_MAP_NAME_MAX)
        return length;
    length = PERF_MAP_NAME_MAX;
    for (unsigned i = 0; i < 3 && ((unsigned char)name[length] & 0xc0) == 0x80; i++)
        length--;
    return length;
}

void perf_map_add(struct perf_map *map, uint64_t start, uint64_t size, const char *name,
                  size_t length) {
    if (length == 0 || *name == '\0' || size == 0 || size > UINT64_MAX - start)
        map->stats.broken++;
    else
        add(map, start, start + size, name, name_length(name, name + length));
}

static void take_line(struct perf_map *map, const char *line, const char *end) {
    uint64_t start, size;
    const char *at = parse_number(line, end, &start);
    if (at != NULL)
        at = parse_number(at, end, &size);
    if (at == NULL)
        map->stats.broken++;
    else
        perf_map_add(map, start, size, at, (size_t)(end - at));
}

/* Of a line that is too long, the end is left out. */
static void keep(struct perf_map *map, const char *text, size_t bytes) {
    size_t room = sizeof map->line - map->line_bytes;
    size_t n = bytes < room ? bytes : room;
    memcpy(map->line + map->line_bytes, text, n);
    map->line_bytes += n;
}

void perf_map_feed(struct perf_map *map, const char *text, size_t bytes) {
    while (bytes > 0) {
        const char *newline = memchr(text, '\n', bytes);
        size_t n = newline != NULL ? (size_t)(newline - text) : bytes;
        if (newline == NULL || map->line_bytes > 0)
            keep(map, text, n);
        if (newline == NULL)
            return;
        if (map->line_bytes > 0)
            take_line(map, map->line, map->line + map->line_bytes);
        else
            take_line(map, text, newline);
        map->line_bytes = 0;
        text = newline + 1;
        bytes -= n + 1;
    }
}

void perf_map_get_stats(const struct perf_map *map, struct perf_map_stats *stats) {
    *stats = map->stats;
}
