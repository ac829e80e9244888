/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_pprof.c - a profile as gzipped profile.proto, our file format.
 *
 * Addresses stay as fine as the profile has them: grouping is the business of who reads the file.
 * Entries are numbered by their first use, from the innermost frame of the first sample on, so that
 * what is read back is written as the same bytes. Each module gets a range of addresses of its own,
 * one after the other: viewers look addresses up in the mappings. The file's own numbering is
 * address - memory_start + file_offset.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/base/intern.h"
#include "common/profile/numbers.h"
#include "common/profile/stacks.h"
#include "common/render/format.h"
#include "common/render/pprof_comments.h"
#include "common/render/pprof_message.h"
#include "common/wire/tags.h"

#define PAGE          4096
#define FIRST_ADDRESS 0x10000ull
#define GAP           0x10000ull /* between modules */
#define LABELS_MAX    (2 + TAGS_ROOM / 4)

struct range {
    uint64_t start, limit; /* in the file's numbering */
    uint64_t memory_start;
    bool used;
};

struct builder {
    const struct profile *profile;
    struct pool pool;
    struct intern by_text;
    struct range *ranges; /* by module */
    uint64_t next_address;
    Perftools__Profiles__Mapping **mapping; /* by module, NULL: not used so far */
    uint64_t *location_id, *function_id;    /* by number in the profile, 0: not used so far */
    Perftools__Profiles__Label ***labels;   /* by process */
    size_t *n_labels;
    Perftools__Profiles__Profile message;
    uint32_t string_room, sample_room, mapping_room, location_room, function_room, number_room;
};

static bool same_text(const void *entries, uint32_t i, const void *key) {
    const Perftools__Profiles__Profile *message = entries;
    return strcmp(message->string_table[i], key) == 0;
}

static int64_t text_id(struct builder *b, const char *text) {
    Perftools__Profiles__Profile *message = &b->message;
    uint32_t *slot;
    if (*text == '\0')
        return 0;
    slot = intern_find(&b->by_text, seeded_hash_bytes(0, text, strlen(text)), same_text, message,
                       text);
    if (*slot == 0) {
        uint32_t n = (uint32_t)message->n_string_table;
        char *copy = pool_alloc(&b->pool, strlen(text) + 1);
        message->string_table = memory_grow(message->string_table, n, &b->string_room,
                                            sizeof *message->string_table, "names");
        message->string_table[n] = strcpy(copy, text);
        message->n_string_table = n + 1;
        *slot = n;
    }
    return *slot;
}

/* Appends a message of the kind that `init` makes to one of the lists of the profile; its id is the
 * length of the list. */
#define APPEND(b, list, room, Kind, init)                                                          \
    ((b)->message.list = memory_grow((b)->message.list, (uint32_t)(b)->message.n_##list,           \
                                     &(b)->room, sizeof(*(b)->message.list), #list),               \
     (b)->message.list[(b)->message.n_##list] = pool_alloc(&(b)->pool, sizeof(Kind)),              \
     init((b)->message.list[(b)->message.n_##list]), (b)->message.list[(b)->message.n_##list++])

/* ---- mappings ---- */

/* The module needs the address of that location. */
static void widen_range(struct builder *b, uint32_t location) {
    const struct profile *profile = b->profile;
    const struct profile_location *place = &profile->locations[location];
    const struct profile_module *module = &profile->modules[place->module];
    struct range *range = &b->ranges[place->module];
    if (!range->used) {
        bool known = module->start < module->limit;
        range->used = true;
        range->start = known ? module->start : place->address;
        range->limit = known ? module->limit : place->address + 1;
    }
    if (place->address < range->start)
        range->start = place->address;
    if (place->address >= range->limit)
        range->limit = place->address + 1;
}

/* The addresses that each module needs: what it says itself and what samples use. */
static void find_ranges(struct builder *b) {
    const struct profile *profile = b->profile;
    bool *used = memory_new(profile->n_nodes, sizeof *used, "contexts");
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        const struct profile_node *node = &profile->nodes[i];
        used[i] |= node->count > 0 || node->error > 0;
        if (!used[i])
            continue;
        used[node->parent] = true;
        widen_range(b, node->location);
    }
    for (uint32_t i = 1; i < profile->n_numbers; i++)
        widen_range(b, profile->numbers[i].location);
    free(used);
}

static Perftools__Profiles__Mapping *map_module(struct builder *b, uint32_t number) {
    const struct profile_module *module = &b->profile->modules[number];
    struct range *range = &b->ranges[number];
    Perftools__Profiles__Mapping *mapping;
    if (number == 0 || b->mapping[number] != NULL)
        return b->mapping[number];
    range->memory_start = b->next_address + range->start % PAGE;
    b->next_address = range->memory_start + (range->limit - range->start) + GAP;
    b->next_address -= b->next_address % PAGE;

    mapping = APPEND(b, mapping, mapping_room, *mapping, perftools__profiles__mapping__init);
    mapping->id = b->message.n_mapping;
    mapping->memory_start = range->memory_start;
    mapping->memory_limit = range->memory_start + (range->limit - range->start);
    mapping->file_offset = range->start;
    mapping->filename = text_id(b, module->path);
    mapping->build_id = text_id(b, module->build_id);
    b->mapping[number] = mapping;
    return mapping;
}

/* By custom the first mapping is the program itself. */
static void map_programs(struct builder *b) {
    const struct profile *profile = b->profile;
    for (uint32_t i = 1; i < profile->n_modules && profile->n_processes > 1; i++)
        if (b->ranges[i].used && profile->modules[i].path == profile->processes[1].exe)
            map_module(b, i);
}

/* ---- functions and locations ---- */

static uint64_t function_id(struct builder *b, uint32_t number) {
    const struct profile_function *function = &b->profile->functions[number];
    Perftools__Profiles__Function *message;
    if (b->function_id[number] == 0) {
        message = APPEND(b, function, function_room, *message, perftools__profiles__function__init);
        message->id = b->function_id[number] = b->message.n_function;
        message->name = text_id(b, function->name);
        message->system_name = text_id(b, function->system_name);
        message->filename = text_id(b, function->file);
        message->start_line = function->start_line;
    }
    return b->function_id[number];
}

static void add_line(struct builder *b, Perftools__Profiles__Location *message,
                     Perftools__Profiles__Mapping *mapping, const struct profile_line *line) {
    const struct profile_function *function = &b->profile->functions[line->function];
    Perftools__Profiles__Line *copy = pool_alloc(&b->pool, sizeof *copy);
    perftools__profiles__line__init(copy);
    copy->function_id = function_id(b, line->function);
    copy->line = line->line;
    message->line[message->n_line++] = copy;
    if (mapping != NULL) {
        mapping->has_functions |= !profile_is_place_name(function->name);
        mapping->has_filenames |= *function->file != '\0';
        mapping->has_line_numbers |= line->line != 0;
        mapping->has_inline_frames |= message->n_line > 1;
    }
}

static uint64_t location_id(struct builder *b, uint32_t number) {
    const struct profile_location *place = &b->profile->locations[number];
    Perftools__Profiles__Mapping *mapping;
    Perftools__Profiles__Location *message;
    if (b->location_id[number] != 0)
        return b->location_id[number];
    mapping = map_module(b, place->module);
    message = APPEND(b, location, location_room, *message, perftools__profiles__location__init);
    message->id = b->location_id[number] = b->message.n_location;
    message->address = place->address;
    if (mapping != NULL) {
        message->mapping_id = mapping->id;
        message->address += mapping->memory_start - mapping->file_offset;
    }
    message->hcct_entry = place->is_entry;
    message->hcct_routine = place->routine;
    message->hcct_effect = place->effect;
    message->hcct_self_effect = place->self_effect;
    message->line = pool_alloc(&b->pool, place->n_lines * sizeof *message->line);
    for (uint32_t k = 0; k < place->n_lines; k++)
        add_line(b, message, mapping, &place->lines[k]);
    return message->id;
}

/* ---- samples ---- */

static Perftools__Profiles__Label *new_label(struct builder *b, const char *key) {
    Perftools__Profiles__Label *label = pool_alloc(&b->pool, sizeof *label);
    perftools__profiles__label__init(label);
    label->key = text_id(b, key);
    return label;
}

static void add_text_label(struct builder *b, uint32_t process, const char *key,
                           const char *value) {
    Perftools__Profiles__Label *label = new_label(b, key);
    label->str = text_id(b, value);
    b->labels[process][b->n_labels[process]++] = label;
}

static void add_tag_label(struct builder *b, uint32_t process, const struct tag *tag) {
    char key[TAGS_ROOM], value[TAGS_ROOM];
    snprintf(key, sizeof key, "%.*s", (int)tag->key_length, tag->key);
    snprintf(value, sizeof value, "%.*s", (int)tag->value_length, tag->value);
    add_text_label(b, process, key, value);
}

/* All samples of a process have the same labels. */
static void make_labels(struct builder *b, uint32_t process) {
    const struct profile_process *it = &b->profile->processes[process];
    const char *tags = it->tags;
    struct tag tag;
    char *name;
    if (b->labels[process] != NULL)
        return;
    b->labels[process] = pool_alloc(&b->pool, LABELS_MAX * sizeof *b->labels[process]);
    name = comment_process_label(b->profile, process);
    add_text_label(b, process, "process", name);
    free(name);
    if (it->pid != 0) {
        Perftools__Profiles__Label *label = new_label(b, "pid");
        label->num = it->pid;
        b->labels[process][b->n_labels[process]++] = label;
    }
    while (b->n_labels[process] < LABELS_MAX && tags_next(&tags, &tag))
        add_tag_label(b, process, &tag);
}

static void add_sample(struct builder *b, const struct profile_node *node) {
    const struct profile_node *nodes = b->profile->nodes;
    Perftools__Profiles__Sample *sample;
    size_t depth = 0;
    sample = APPEND(b, sample, sample_room, *sample, perftools__profiles__sample__init);
    for (const struct profile_node *at = node; at->parent != 0; at = &nodes[at->parent])
        depth++;
    sample->location_id = pool_alloc(&b->pool, depth * sizeof *sample->location_id);
    for (const struct profile_node *at = node; at->parent != 0; at = &nodes[at->parent])
        sample->location_id[sample->n_location_id++] = location_id(b, at->location);
    sample->value = pool_alloc(&b->pool, 2 * sizeof *sample->value);
    sample->n_value = 2;
    sample->value[0] = (int64_t)node->count;
    sample->value[1] = (int64_t)node->error;
    make_labels(b, node->process);
    sample->label = b->labels[node->process];
    sample->n_label = b->n_labels[node->process];
}

static void add_number(struct builder *b, const struct profile_number *number) {
    Perftools__Profiles__HcctNumber *message;
    message = APPEND(b, hcct_number, number_room, *message, perftools__profiles__hcct_number__init);
    message->number = number->number;
    message->parent = number->parent;
    message->location_id = location_id(b, number->location);
}

/* ---- the rest ---- */

/* A type without a name would not be found again among its like: it gets one. */
static Perftools__Profiles__ValueType *value_type(struct builder *b, const char *suffix) {
    const char *word = *b->profile->type != '\0' ? b->profile->type : "weight";
    Perftools__Profiles__ValueType *type = pool_alloc(&b->pool, sizeof *type);
    char *name = pool_alloc(&b->pool, strlen(word) + strlen(suffix) + 1);
    perftools__profiles__value_type__init(type);
    type->type = text_id(b, strcat(strcpy(name, word), suffix));
    type->unit = text_id(b, b->profile->unit);
    return type;
}

static size_t count_marks(const struct profile *profile) {
    struct mark_line mark;
    size_t n = 0;
    for (const char *text = profile->marks; mark_line_next(&text, &mark);)
        n++;
    return n;
}

static void add_comments(struct builder *b) {
    const struct profile *profile = b->profile;
    Perftools__Profiles__Profile *message = &b->message;
    struct mark_line mark;
    message->comment = pool_alloc(&b->pool, (profile->n_processes + count_marks(profile)) *
                                                sizeof *message->comment);
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        char *comment = i == 0 ? comment_profile(profile) : comment_process(profile, i);
        message->comment[message->n_comment++] = text_id(b, comment);
        free(comment);
    }
    for (const char *text = profile->marks; mark_line_next(&text, &mark);) {
        char *comment = comment_mark(&mark);
        message->comment[message->n_comment++] = text_id(b, comment);
        free(comment);
    }
}

static void fill(struct builder *b) {
    const struct profile *profile = b->profile;
    Perftools__Profiles__Profile *message = &b->message;
    message->string_table =
        memory_grow(NULL, 0, &b->string_room, sizeof *message->string_table, "names");
    message->string_table[message->n_string_table++] = pool_alloc(&b->pool, 1);
    message->sample_type = pool_alloc(&b->pool, 2 * sizeof *message->sample_type);
    message->sample_type[message->n_sample_type++] = value_type(b, "");
    message->sample_type[message->n_sample_type++] = value_type(b, "_error");
    message->default_sample_type = message->sample_type[0]->type;
    message->time_nanos = (int64_t)profile->time_ns;
    message->duration_nanos = (int64_t)profile->duration_ns;
    if (profile->period != 0)
        message->period_type = message->sample_type[0];
    message->period = (int64_t)profile->period;
    add_comments(b);

    find_ranges(b);
    map_programs(b);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count > 0 || profile->nodes[i].error > 0)
            add_sample(b, &profile->nodes[i]);
    for (uint32_t i = 1; i < profile->n_numbers; i++)
        add_number(b, &profile->numbers[i]);
}

bool pprof_message_write(const Perftools__Profiles__Profile *message, void *arg) {
    FILE *out = arg;
    size_t bytes = perftools__profiles__profile__get_packed_size(message), packed_bytes;
    uint8_t *plain = memory_new(bytes, 1, "the profile file"), *packed;
    bool ok;
    perftools__profiles__profile__pack(message, plain);
    packed = gzip_pack(plain, bytes, &packed_bytes);
    free(plain);
    if (packed == NULL) {
        errno = ENOMEM;
        return false;
    }
    ok = fwrite(packed, 1, packed_bytes, out) == packed_bytes && fflush(out) == 0;
    free(packed);
    return ok;
}

/* Has what the format wants: a line for each location, no weight outside of all frames. */
static bool is_complete(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->parent == 0 ? node->count > 0 || node->error > 0
                              : profile->locations[node->location].n_lines == 0)
            return false;
    }
    for (uint32_t i = 1; i < profile->n_numbers; i++)
        if (profile->locations[profile->numbers[i].location].n_lines == 0)
            return false;
    return true;
}

bool pprof_message_with(const struct profile *profile, const struct format_options *options,
                        bool (*use)(const Perftools__Profiles__Profile *message, void *arg),
                        void *arg) {
    struct builder b = {.next_address = FIRST_ADDRESS};
    double fits = stacks_phi(profile), phi = options->phi > fits ? options->phi : fits;
    struct profile *copy = NULL;
    bool ok;
    if (options->n > 0)
        copy = profile_keep(profile, options->n);
    else if (phi > 0 || !is_complete(profile))
        copy = profile_prune(profile, phi);
    if (copy != NULL)
        numbers_copy(copy, profile);
    b.profile = profile = copy != NULL ? copy : profile;
    perftools__profiles__profile__init(&b.message);
    b.ranges = memory_new(profile->n_modules, sizeof *b.ranges, "modules");
    b.mapping = memory_new(profile->n_modules, sizeof *b.mapping, "modules");
    b.location_id = memory_new(profile->n_locations, sizeof *b.location_id, "locations");
    b.function_id = memory_new(profile->n_functions, sizeof *b.function_id, "functions");
    b.labels = memory_new(profile->n_processes, sizeof *b.labels, "processes");
    b.n_labels = memory_new(profile->n_processes, sizeof *b.n_labels, "processes");
    fill(&b);
    ok = use(&b.message, arg);

    free(b.ranges);
    free(b.mapping);
    free(b.location_id);
    free(b.function_id);
    free(b.labels);
    free(b.n_labels);
    free(b.message.string_table);
    free(b.message.sample);
    free(b.message.mapping);
    free(b.message.location);
    free(b.message.function);
    free(b.message.hcct_number);
    intern_free(&b.by_text);
    pool_free(&b.pool);
    profile_free(copy);
    return ok;
}

bool write_pprof(FILE *out, const struct profile *profile, const struct format_options *options) {
    return pprof_message_with(profile, options, pprof_message_write, out);
}
