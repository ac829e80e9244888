/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_image.c - head, strings, then table by table.
 */
#include "common/profile/profile_image.h"

#include <stdlib.h>
#include <string.h>

#include "common/profile/profile_index.h"

#define MAGIC       0x6567616d69636368ull
#define STRINGS_MAX 8 /* of one entry */
#define HOLES_MAX   4

/* Where an entry of a table has its strings, and where nothing: what stands there is written as 0.
 */
struct layout {
    size_t bytes; /* of an entry */
    unsigned n;
    size_t string[STRINGS_MAX];
    struct {
        size_t from, to;
    } hole[HOLES_MAX];
};

#define AT(type, member)  offsetof(struct type, member)
#define END(type, member) (AT(type, member) + sizeof(((struct type *)NULL)->member))

static const struct layout head_layout = {
    .bytes = sizeof(struct profile),
    .n = 6,
    .string = {AT(profile, type), AT(profile, unit), AT(profile, title), AT(profile, summary),
               AT(profile, others), AT(profile, marks)},
};
static const struct layout module_layout = {
    .bytes = sizeof(struct profile_module),
    .n = 2,
    .string = {AT(profile_module, path), AT(profile_module, build_id)},
};
static const struct layout function_layout = {
    .bytes = sizeof(struct profile_function),
    .n = 3,
    .string = {AT(profile_function, name), AT(profile_function, system_name),
               AT(profile_function, file)},
    .hole = {{END(profile_function, start_line), sizeof(struct profile_function)}},
};
static const struct layout process_layout = {
    .bytes = sizeof(struct profile_process),
    .n = 7,
    .string = {AT(profile_process, exe), AT(profile_process, command), AT(profile_process, tags),
               AT(profile_process, clock), AT(profile_process, collector),
               AT(profile_process, credit), AT(profile_process, call_modules)},
    .hole = {{END(profile_process, live), AT(profile_process, total)},
             {END(profile_process, lines), AT(profile_process, every)},
             {END(profile_process, every_each), AT(profile_process, credit)},
             {END(profile_process, threads), sizeof(struct profile_process)}},
};
static const struct layout location_layout = {
    .bytes = sizeof(struct profile_location),
    .hole = {{END(profile_location, module), AT(profile_location, address)},
             {END(profile_location, is_entry), AT(profile_location, effect)}},
};
static const struct layout node_layout = {
    .bytes = sizeof(struct profile_node),
    .hole = {{END(profile_node, process), AT(profile_node, count)},
             {END(profile_node, inlined), sizeof(struct profile_node)}},
};
#undef AT
#undef END

struct head {
    uint64_t magic;
    uint64_t string_bytes; /* of all strings, with their ends */
    uint64_t n_lines;      /* of all locations */
    uint32_t n_strings;
    uint32_t has_flat;
};

/* The string of an entry, which stands where a number stands in an image. */
static const char **string_at(void *entry, const struct layout *layout, unsigned i) {
    return (const char **)(void *)((char *)entry + layout->string[i]);
}

/* ---- writing ---- */

#define BLOCK 64 /* entries */

/* Numbers of strings, in the order in which they are written. */
struct numbers {
    uint32_t *number;
    uint32_t n, room;
};

static bool put(FILE *out, const void *entries, size_t n, size_t bytes) {
    return n == 0 || fwrite(entries, bytes, n, out) == n;
}

/* Strings that the profile has from elsewhere become its own, so that all have numbers. */
static void own_strings(struct numbers *numbers, struct profile *profile, void *entries, size_t n,
                        const struct layout *layout) {
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < layout->n; k++) {
            const char *string = *string_at((char *)entries + i * layout->bytes, layout, k);
            numbers->number = memory_grow(numbers->number, numbers->n, &numbers->room,
                                          sizeof *numbers->number, "names");
            numbers->number[numbers->n++] = profile_string_number(profile, string);
        }
}

/* *next: of the entries' strings, as own_strings() found them. */
static void make_entry(void *entry, const struct layout *layout, const uint32_t **next) {
    for (unsigned k = 0; k < layout->n; k++) {
        uintptr_t number = *(*next)++;
        memcpy(string_at(entry, layout, k), &number, sizeof number);
    }
    for (unsigned k = 0; k < HOLES_MAX; k++)
        memset((char *)entry + layout->hole[k].from, 0, layout->hole[k].to - layout->hole[k].from);
}

static bool put_entries(FILE *out, const uint32_t **next, const void *entries, size_t n,
                        const struct layout *layout) {
    union {
        struct profile head;
        struct profile_module module;
        struct profile_function function;
        struct profile_process process;
        struct profile_location location;
        struct profile_node node;
    } room[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t some = n - i < BLOCK ? n - i : BLOCK;
        memcpy(room, (const char *)entries + i * layout->bytes, some * layout->bytes);
        for (size_t k = 0; k < some; k++)
            make_entry((char *)room + k * layout->bytes, layout, next);
        if (!put(out, room, some, layout->bytes))
            return false;
    }
    return true;
}

static bool put_head(FILE *out, const struct profile *profile) {
    const struct profile_index *index = profile->index;
    struct head head = {
        .magic = MAGIC, .n_strings = index->n_strings, .has_flat = profile->flat != NULL};
    for (uint32_t i = 0; i < index->n_strings; i++)
        head.string_bytes += strlen(index->strings[i]) + 1;
    for (uint32_t i = 0; i < profile->n_locations; i++)
        head.n_lines += profile->locations[i].n_lines;
    if (!put(out, &head, 1, sizeof head))
        return false;
    for (uint32_t i = 0; i < index->n_strings; i++)
        if (!put(out, index->strings[i], strlen(index->strings[i]) + 1, 1))
            return false;
    return true;
}

static bool put_lines(FILE *out, const struct profile *profile) {
    for (uint32_t i = 0; i < profile->n_locations; i++) {
        const struct profile_location *location = &profile->locations[i];
        if (!put(out, location->lines, location->n_lines, sizeof *location->lines))
            return false;
    }
    return true;
}

bool profile_image_write(FILE *out, struct profile *profile) {
    struct numbers numbers = {.n = 0};
    own_strings(&numbers, profile, profile, 1, &head_layout);
    own_strings(&numbers, profile, profile->modules, profile->n_modules, &module_layout);
    own_strings(&numbers, profile, profile->functions, profile->n_functions, &function_layout);
    own_strings(&numbers, profile, profile->processes, profile->n_processes, &process_layout);
    const uint32_t *next = numbers.number;
    bool whole =
        put_head(out, profile) && put_entries(out, &next, profile, 1, &head_layout) &&
        put_entries(out, &next, profile->modules, profile->n_modules, &module_layout) &&
        put_entries(out, &next, profile->functions, profile->n_functions, &function_layout) &&
        put_entries(out, &next, profile->processes, profile->n_processes, &process_layout) &&
        put_entries(out, &next, profile->locations, profile->n_locations, &location_layout) &&
        put_lines(out, profile) &&
        put_entries(out, &next, profile->nodes, profile->n_nodes, &node_layout) &&
        put(out, profile->index->roots, profile->n_processes, sizeof *profile->index->roots) &&
        put(out, profile->numbers, profile->n_numbers, sizeof *profile->numbers) &&
        (profile->flat == NULL ||
         put(out, profile->flat, profile->n_locations, sizeof *profile->flat));
    free(numbers.number);
    return whole;
}

/* ---- reading ---- */

/* NULL: not so many are there. */
static void *get(FILE *in, size_t n, size_t bytes) {
    void *entries = memory_new(n, bytes, "a profile");
    if (fread(entries, bytes, n, in) == n)
        return entries;
    free(entries);
    return NULL;
}

/* Numbers become the strings. False: there is no such string. */
static bool set_strings(const struct profile_index *index, void *entries, size_t n,
                        const struct layout *layout) {
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < layout->n; k++) {
            const char **string = string_at((char *)entries + i * layout->bytes, layout, k);
            uintptr_t number;
            memcpy(&number, string, sizeof number);
            if (number >= index->n_strings)
                return false;
            *string = index->strings[number];
        }
    return true;
}

static void *get_entries(FILE *in, const struct profile_index *index, size_t n,
                         const struct layout *layout) {
    void *entries = get(in, n, layout->bytes);
    if (entries == NULL || set_strings(index, entries, n, layout))
        return entries;
    free(entries);
    return NULL;
}

static bool get_strings(FILE *in, const struct head *head, struct profile_index *index) {
    char *text = pool_alloc(&index->pool, head->string_bytes);
    if (fread(text, 1, head->string_bytes, in) != head->string_bytes ||
        text[head->string_bytes - 1] != '\0')
        return false;
    index->strings = memory_new(head->n_strings, sizeof *index->strings, "names");
    for (char *at = text; at < text + head->string_bytes && index->n_strings < head->n_strings;
         at += strlen(at) + 1)
        index->strings[index->n_strings++] = at;
    return index->n_strings == head->n_strings;
}

static bool get_lines(FILE *in, const struct head *head, struct profile *profile) {
    struct profile_line *line = pool_alloc(&profile->index->pool, head->n_lines * sizeof *line + 1);
    uint64_t left = head->n_lines;
    if (fread(line, sizeof *line, left, in) != left)
        return false;
    for (uint32_t i = 0; i < profile->n_locations; i++) {
        struct profile_location *location = &profile->locations[i];
        if (location->n_lines > left)
            return false;
        location->lines = location->n_lines > 0 ? line : NULL;
        line += location->n_lines;
        left -= location->n_lines;
    }
    return left == 0;
}

/* The profile's own fields and how long its tables are; these are not there yet. */
static bool get_head(FILE *in, struct profile *profile) {
    struct profile_index *index = profile->index;
    struct profile *read = get_entries(in, index, 1, &head_layout);
    if (read == NULL)
        return false;
    *profile = *read;
    free(read);
    profile->index = index;
    profile->modules = NULL;
    profile->functions = NULL;
    profile->locations = NULL;
    profile->nodes = NULL;
    profile->processes = NULL;
    profile->flat = NULL;
    profile->numbers = NULL;
    profile->number_room = 0;
    return true;
}

static bool get_all(FILE *in, struct profile *profile) {
    struct profile_index *index = profile->index;
    struct head head;
    if (fread(&head, sizeof head, 1, in) != 1 || head.magic != MAGIC || head.string_bytes == 0 ||
        !get_strings(in, &head, index) || !get_head(in, profile))
        return false;
    profile->modules = get_entries(in, index, profile->n_modules, &module_layout);
    profile->functions = get_entries(in, index, profile->n_functions, &function_layout);
    profile->processes = get_entries(in, index, profile->n_processes, &process_layout);
    profile->locations = get(in, profile->n_locations, sizeof *profile->locations);
    if (profile->modules == NULL || profile->functions == NULL || profile->processes == NULL ||
        profile->locations == NULL || !get_lines(in, &head, profile))
        return false;
    profile->nodes = get(in, profile->n_nodes, sizeof *profile->nodes);
    index->node_room = profile->n_nodes;
    index->roots = get(in, profile->n_processes, sizeof *index->roots);
    if (profile->n_numbers > 0)
        profile->numbers = get(in, profile->n_numbers, sizeof *profile->numbers);
    profile->number_room = profile->n_numbers;
    if (head.has_flat)
        profile->flat = get(in, profile->n_locations, sizeof *profile->flat);
    return profile->nodes != NULL && index->roots != NULL &&
           (profile->numbers != NULL || profile->n_numbers == 0) &&
           (profile->flat != NULL || !head.has_flat);
}

struct profile *profile_image_read(FILE *in) {
    struct profile *profile = memory_new(1, sizeof *profile, "a profile");

    profile->index = memory_new(1, sizeof *profile->index, "a profile");
    if (get_all(in, profile))
        return profile;
    profile_free(profile);
    return NULL;
}
