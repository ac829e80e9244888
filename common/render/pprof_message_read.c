/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_message_read.c - a message of profile.proto, of ours or of another tool, as a profile.
 *
 * The message may say anything: every number that refers to something is checked, and of each
 * list there is a largest size.
 * A foreign profile is one process, named by its first mapping; of several sample types the one
 * that is asked for is taken, or the default one, else the last, as pprof itself does. Where a file
 * of ours has several metrics, comments belong to the one that stands before them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/profile/numbers.h"
#include "common/render/format.h"
#include "common/render/pprof_comments.h"
#include "common/render/pprof_message.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"

#define MAX_LINES     1000 /* inlined functions at one address */
#define MAX_PROCESSES 50000
#define MAX_NODES     (32u << 20)

struct id_entry {
    uint64_t id;
    uint32_t number;
};

/* ids of the file to numbers of ours */
struct id_map {
    struct intern by_id;
    struct id_entry *entries;
    uint32_t n, room;
};

#define EFFECT_MOST 1e6f /* larger design effects are damaged ones */

/* What tells the processes apart in the labels of samples. */
struct owner {
    const char *label;
    uint64_t pid;
};

struct reader {
    const Perftools__Profiles__Profile *message;
    struct profile *profile;
    char *error;
    size_t error_bytes;
    struct id_map mappings, functions, locations;
    struct intern by_owner;
    struct owner *owners; /* by process */
    uint32_t owner_room;
    int version;               /* of our comments; 0: there are none */
    size_t value, value_error; /* which of a sample's values; value_error == value: none */
    size_t value_walks;        /* likewise, of a foreign profile */
    uint64_t left, left_error; /* what may still be added */
    const Perftools__Profiles__Sample *last; /* the sample before, NULL: none */
    uint32_t last_root, last_node;
    bool ours;
    const char *type;       /* of the weight that is asked for; NULL: none is */
    const char *metric;     /* the same, as it was asked for */
    bool has_metrics;       /* the file has several ... */
    uint64_t metric_period; /* ... and this is the period of the one that is read */
};

static void say(struct reader *r, const char *format, ...) hcct_printf(2, 3);

static void say(struct reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->error, r->error_bytes, format, args);
    va_end(args);
}

/* A macro, so that the compiler sees the value. */
#define FAIL(r, ...) (say(r, __VA_ARGS__), false)

/* ---- ids and strings ---- */

static bool same_id(const void *entries, uint32_t i, const void *key) {
    return ((const struct id_map *)entries)->entries[i].id == *(const uint64_t *)key;
}

static uint32_t *id_find(struct id_map *map, uint64_t id) {
    uint32_t *slot = intern_find(&map->by_id, seeded_hash(0, id), same_id, map, &id);
    if (*slot == 0) {
        if (map->n == 0)
            map->n = 1;
        map->entries = memory_grow(map->entries, map->n, &map->room, sizeof *map->entries, "ids");
        map->entries[map->n] = (struct id_entry){.id = id};
        *slot = map->n++;
    }
    return &map->entries[*slot].number;
}

static void id_free(struct id_map *map) {
    intern_free(&map->by_id);
    free(map->entries);
}

/* False: there is no such string. */
static bool get_text(struct reader *r, int64_t number, const char **text) {
    if (number < 0 || (uint64_t)number >= r->message->n_string_table)
        return FAIL(r, "it is damaged: it refers to string %" PRId64 " of %zu", number,
                    r->message->n_string_table);
    *text = r->message->string_table[number];
    return true;
}

/* Line numbers that can't be are as good as none. */
static uint32_t line_number(int64_t line) {
    return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* ---- tables ---- */

static bool read_mappings(struct reader *r) {
    for (size_t i = 0; i < r->message->n_mapping; i++) {
        const Perftools__Profiles__Mapping *mapping = r->message->mapping[i];
        uint64_t limit = mapping->file_offset + (mapping->memory_limit - mapping->memory_start);
        struct profile_module *module;
        const char *path, *build_id;
        uint32_t number;
        if (!get_text(r, mapping->filename, &path) || !get_text(r, mapping->build_id, &build_id))
            return false;
        number = profile_add_module(r->profile, path, build_id);
        module = &r->profile->modules[number];
        if (module->limit == 0 || mapping->file_offset < module->start)
            module->start = mapping->file_offset;
        if (limit > module->limit)
            module->limit = limit;
        *id_find(&r->mappings, mapping->id) = (uint32_t)i + 1;
    }
    return true;
}

static bool read_functions(struct reader *r) {
    for (size_t i = 0; i < r->message->n_function; i++) {
        const Perftools__Profiles__Function *function = r->message->function[i];
        const char *name, *system_name, *file;
        if (!get_text(r, function->name, &name) ||
            !get_text(r, function->system_name, &system_name) ||
            !get_text(r, function->filename, &file))
            return false;
        if (*name == '\0')
            name = *system_name != '\0' ? system_name : "[no name]";
        *id_find(&r->functions, function->id) = profile_add_function(
            r->profile, name, system_name, file, line_number(function->start_line));
    }
    return true;
}

static bool read_lines(struct reader *r, const Perftools__Profiles__Location *location,
                       struct profile_line *lines, uint32_t *n_lines) {
    if (location->n_line > MAX_LINES)
        return FAIL(r, "it is damaged: %zu functions are inlined at one address", location->n_line);
    for (size_t k = 0; k < location->n_line; k++) {
        const Perftools__Profiles__Line *line = location->line[k];
        uint32_t function = line->function_id != 0 ? *id_find(&r->functions, line->function_id) : 0;
        if (line->function_id == 0)
            continue;
        if (function == 0)
            return FAIL(r, "it is damaged: it refers to function %" PRIu64 ", which is not there",
                        line->function_id);
        lines[(*n_lines)++] =
            (struct profile_line){.function = function, .line = line_number(line->line)};
    }
    return true;
}

/* Whoever wrote the file. */
static float read_effect(float effect) {
    return effect > 0 && effect < EFFECT_MOST ? effect : 0;
}

static bool read_locations(struct reader *r) {
    for (size_t i = 0; i < r->message->n_location; i++) {
        const Perftools__Profiles__Location *location = r->message->location[i];
        struct profile_line lines[MAX_LINES];
        struct profile_location place = {.address = location->address,
                                         .routine = location->hcct_routine,
                                         .is_entry = location->hcct_entry,
                                         .effect = read_effect(location->hcct_effect),
                                         .self_effect = read_effect(location->hcct_self_effect),
                                         .lines = lines};
        if (!read_lines(r, location, lines, &place.n_lines))
            return false;
        if (location->mapping_id != 0) {
            uint32_t index = *id_find(&r->mappings, location->mapping_id);
            const Perftools__Profiles__Mapping *mapping;
            if (index == 0)
                return FAIL(r,
                            "it is damaged: it refers to mapping %" PRIu64 ", which is not there",
                            location->mapping_id);
            mapping = r->message->mapping[index - 1];
            place.module =
                profile_add_module(r->profile, r->message->string_table[mapping->filename],
                                   r->message->string_table[mapping->build_id]);
            place.address += mapping->file_offset - mapping->memory_start;
        }
        *id_find(&r->locations, location->id) = profile_intern_location(r->profile, &place);
    }
    return true;
}

/* ---- processes ---- */

static bool same_owner(const void *entries, uint32_t i, const void *key) {
    const struct owner *have = &((const struct reader *)entries)->owners[i], *want = key;
    return have->label == want->label && have->pid == want->pid;
}

/* The process of that label and pid; *slot is 0 when there is none. */
static uint32_t *find_owner(struct reader *r, const struct owner *owner) {
    uint64_t hash = seeded_hash(owner->pid, (uintptr_t)owner->label);
    return intern_find(&r->by_owner, hash, same_owner, r, owner);
}

static void add_owner(struct reader *r, const struct owner *owner, uint32_t process) {
    r->owners = memory_grow(r->owners, process, &r->owner_room, sizeof *r->owners, "processes");
    r->owners[process] = *owner;
}

static void note_other(struct profile *profile, const char *type) {
    char others[256];
    snprintf(others, sizeof others, "%s%s%s", profile->others, *profile->others != '\0' ? ", " : "",
             metric_word_of_type(type));
    profile->others = profile_word(profile, others);
}

/* The last part of reading comments: those of marks were put together. */
static void keep_marks(struct reader *r, FILE *marks) {
    char *text = memory_stream_end(marks, NULL, "marks");
    r->profile->marks = profile_string(r->profile, text);
    free(text);
}

static bool take_comments(struct reader *r, FILE *marks) {
    bool others = false;
    for (size_t i = 0; i < r->message->n_comment; i++) {
        struct comment_metric metric;
        struct mark_line mark;
        const char *comment;
        if (!get_text(r, r->message->comment[i], &comment))
            return false;
        if (comment_read_metric(comment, &metric)) {
            others = strcmp(metric.type, r->profile->type) != 0;
            if (others)
                note_other(r->profile, metric.type);
            else
                r->metric_period = metric.period;
            r->has_metrics = true;
        }
        if (others)
            continue;
        if (comment_read_mark(comment, &mark))
            mark_line_put(marks, &mark);
        r->ours |= comment_read(r->profile, comment, &r->version);
        if (r->profile->n_processes > MAX_PROCESSES)
            return FAIL(r, "it has more than %d processes", MAX_PROCESSES);
    }
    return true;
}

static bool read_comments(struct reader *r) {
    FILE *marks = memory_stream("marks");
    bool taken = take_comments(r, marks);
    keep_marks(r, marks);
    if (!taken)
        return false;
    for (uint32_t i = 1; i < r->profile->n_processes; i++) {
        char *label = comment_process_label(r->profile, i);
        struct owner owner = {.label = profile_string(r->profile, label),
                              .pid = r->profile->processes[i].pid};
        uint32_t *slot = find_owner(r, &owner);
        if (*slot == 0)
            *slot = i;
        add_owner(r, &owner, i);
        free(label);
    }
    return true;
}

/* A process that no comment spoke of. */
static uint32_t new_process(struct reader *r, const struct owner *owner) {
    struct profile_process process = {.exe = "", .runs = 1, .pid = (uint32_t)owner->pid};
    process.command = owner->label;
    if (*owner->label == '\0') {
        process.command = "[no name]";
        if (r->message->n_mapping > 0)
            process.exe = r->message->string_table[r->message->mapping[0]->filename];
        if (*process.exe != '\0')
            process.command = profile_basename(process.exe);
    }
    return profile_add_process(r->profile, &process);
}

static bool sample_process(struct reader *r, const Perftools__Profiles__Sample *sample,
                           uint32_t *process) {
    struct owner owner = {.label = profile_string(r->profile, "")};
    uint32_t *slot;
    for (size_t i = 0; i < sample->n_label; i++) {
        const Perftools__Profiles__Label *label = sample->label[i];
        const char *key, *text;
        if (!get_text(r, label->key, &key) || !get_text(r, label->str, &text))
            return false;
        if (strcmp(key, "process") == 0)
            owner.label = profile_string(r->profile, text);
        else if (strcmp(key, "pid") == 0 && label->num > 0 && label->num <= UINT32_MAX)
            owner.pid = (uint64_t)label->num;
    }
    slot = find_owner(r, &owner);
    if (*slot == 0) {
        if (r->profile->n_processes > MAX_PROCESSES)
            return FAIL(r, "it has more than %d processes", MAX_PROCESSES);
        *slot = new_process(r, &owner);
        add_owner(r, &owner, *slot);
    }
    *process = *slot;
    return true;
}

/* ---- samples ---- */

static bool read_values(struct reader *r, const Perftools__Profiles__Sample *sample,
                        uint64_t *count, uint64_t *error) {
    if (sample->n_value != r->message->n_sample_type)
        return FAIL(r, "it is damaged: a sample has %zu values where %zu are counted",
                    sample->n_value, r->message->n_sample_type);
    *count = (uint64_t)sample->value[r->value];
    *error = r->value_error != r->value ? (uint64_t)sample->value[r->value_error] : 0;
    if (*count > INT64_MAX || *error > INT64_MAX)
        return FAIL(r, "it has negative weights: it is the difference of two profiles, "
                       "give the two instead");
    if (*count > r->left || *error > r->left_error)
        return FAIL(r, "it is damaged: its weights are too large to be added up");
    r->left -= *count;
    r->left_error -= *error;
    return true;
}

/* Samples mostly share their outer frames with the one before: so many. */
static size_t shared_frames(const struct reader *r, const Perftools__Profiles__Sample *sample,
                            uint32_t root) {
    const Perftools__Profiles__Sample *last = r->last;
    size_t n = 0;
    if (last == NULL || r->last_root != root)
        return 0;
    while (n < sample->n_location_id && n < last->n_location_id &&
           sample->location_id[sample->n_location_id - 1 - n] ==
               last->location_id[last->n_location_id - 1 - n])
        n++;
    return n;
}

/* The node of a sample's frame, `depth` frames from the root, where the last sample had the same.
 */
static uint32_t node_above(const struct reader *r, size_t depth) {
    uint32_t node = r->last_node;
    for (size_t n = r->last->n_location_id; n > depth; n--)
        node = r->profile->nodes[node].parent;
    return node;
}

static bool read_sample(struct reader *r, const Perftools__Profiles__Sample *sample) {
    uint64_t count, error;
    uint32_t process, node, root;
    size_t shared;
    if (!read_values(r, sample, &count, &error))
        return false;
    if (r->has_metrics && count == 0 && error == 0)
        return true; /* of another one */
    if (!sample_process(r, sample, &process))
        return false;
    if (!r->ours && r->value_walks < sample->n_value && sample->value[r->value_walks] > 0)
        r->profile->processes[process].walks += (uint64_t)sample->value[r->value_walks];
    root = profile_root(r->profile, process);
    shared = shared_frames(r, sample, root);
    node = shared > 0 ? node_above(r, shared) : root;
    for (size_t k = sample->n_location_id - shared; k > 0; k--) {
        uint64_t id = sample->location_id[k - 1];
        uint32_t location = *id_find(&r->locations, id);
        if (location == 0)
            return FAIL(r, "it is damaged: it refers to location %" PRIu64 ", which is not there",
                        id);
        if (r->profile->n_nodes > MAX_NODES)
            return FAIL(r, "it has more than %u contexts", MAX_NODES);
        node = profile_add_node(r->profile, node, location, 0, 0);
    }
    r->profile->nodes[node].count += count;
    r->profile->nodes[node].error += error;
    r->profile->nodes[node].counter_error += error;
    r->last = sample;
    r->last_root = root;
    r->last_node = node;
    return true;
}

static bool read_number(struct reader *r, const Perftools__Profiles__HcctNumber *it) {
    uint32_t location = *id_find(&r->locations, it->location_id);
    if (location == 0)
        return FAIL(r, "it is damaged: it refers to location %" PRIu64 ", which is not there",
                    it->location_id);
    if (it->parent != 0 && it->parent >= r->profile->n_numbers)
        return FAIL(r, "it is damaged: the caller of context 0x%016" PRIx64 " is not there",
                    it->number);
    numbers_add(r->profile, it->number, (uint32_t)it->parent, location);
    return true;
}

/* ---- the whole ---- */

/* What there is, where something else is asked for. Errors stand behind what they are of. */
static bool say_metrics(struct reader *r) {
    const Perftools__Profiles__Profile *message = r->message;
    char known[256] = "";
    for (size_t i = 0, used = 0; i < message->n_sample_type && used < sizeof known; i++) {
        const char *type = message->string_table[message->sample_type[i]->type];
        size_t length = strlen(type);
        if (length > 6 && strcmp(type + length - 6, "_error") == 0)
            continue;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "",
                                 metric_word_of_type(type));
    }
    return FAIL(r, "it has no metric '%s', or no sample of it: it has %s", r->metric, known);
}

/* Which of a sample's values is the weight, which its error, which the number of samples. */
static bool choose_values(struct reader *r) {
    const Perftools__Profiles__Profile *message = r->message;
    size_t n = message->n_sample_type;
    const char *type, *unit, *chosen_type, *chosen_unit;
    bool found = false;

    r->value = n - 1;
    r->value_walks = n;
    for (size_t i = 0; i < n; i++) {
        if (!get_text(r, message->sample_type[i]->type, &type) ||
            !get_text(r, message->sample_type[i]->unit, &unit))
            return false;
        if (r->type != NULL ? strcmp(type, r->type) == 0
                            : message->default_sample_type != 0 &&
                                  message->sample_type[i]->type == message->default_sample_type) {
            r->value = i;
            found = true;
        }
        if (strcmp(type, "samples") == 0 && strcmp(unit, "count") == 0)
            r->value_walks = i;
    }
    if (r->type != NULL && !found)
        return say_metrics(r);
    chosen_type = message->string_table[message->sample_type[r->value]->type];
    chosen_unit = message->string_table[message->sample_type[r->value]->unit];
    r->value_error = r->value;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(chosen_type);
        type = message->string_table[message->sample_type[i]->type];
        unit = message->string_table[message->sample_type[i]->unit];
        if (strncmp(type, chosen_type, length) == 0 && strcmp(type + length, "_error") == 0 &&
            strcmp(unit, chosen_unit) == 0)
            r->value_error = i;
    }
    r->profile->type = profile_word(r->profile, chosen_type);
    r->profile->unit = profile_word(r->profile, chosen_unit);
    return true;
}

/* A period may be of something else than what is counted: bytes where objects are. */
static bool period_is_weight(const struct reader *r) {
    const Perftools__Profiles__ValueType *type = r->message->period_type;
    const char *unit;
    return type == NULL || type->unit < 0 || (uint64_t)type->unit >= r->message->n_string_table ||
           *(unit = r->message->string_table[type->unit]) == '\0' ||
           strcmp(unit, r->profile->unit) == 0;
}

static void read_header(struct reader *r) {
    const Perftools__Profiles__Profile *message = r->message;
    if (r->has_metrics)
        r->profile->period = r->metric_period;
    else if (message->period > 0 && period_is_weight(r))
        r->profile->period = (uint64_t)message->period;
    r->profile->time_ns = message->time_nanos > 0 ? (uint64_t)message->time_nanos : 0;
    r->profile->duration_ns = message->duration_nanos > 0 ? (uint64_t)message->duration_nanos : 0;
}

/* Processes of other tools' profiles don't say what they weigh. */
static void add_totals(struct profile *profile) {
    uint64_t *totals = memory_new(profile->n_processes, sizeof *totals, "processes");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        totals[profile->nodes[i].process] += profile->nodes[i].count;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].total == 0)
            profile->processes[i].total = totals[i];
    free(totals);
}

/* In files of version 1 a count was not certain: the true one was count - error at least. The rest
 * was that of any context. */
static void make_certain(struct profile *profile) {
    uint32_t pruned = profile_add_pseudo(profile, PROFILE_PRUNED);
    for (uint32_t i = 1, n = profile->n_nodes; i < n; i++) {
        struct profile_node *node = &profile->nodes[i];
        uint64_t rest = node->error < node->count ? node->error : node->count;
        if (rest == 0 || node->parent == 0)
            continue;
        node->count -= rest;
        profile_add_node(profile, profile_root(profile, node->process), pruned, rest, 0);
    }
}

static bool read_message(struct reader *r) {
    const Perftools__Profiles__Profile *message = r->message;
    if (message->n_sample_type == 0 || message->n_string_table == 0 ||
        message->string_table[0][0] != '\0')
        return FAIL(r, "it is not a pprof profile");
    if (!choose_values(r) || !read_comments(r) || !read_mappings(r) || !read_functions(r) ||
        !read_locations(r))
        return false;
    for (size_t i = 0; i < message->n_sample; i++)
        if (!read_sample(r, message->sample[i]))
            return false;
    for (size_t i = 0; i < message->n_hcct_number; i++)
        if (!read_number(r, message->hcct_number[i]))
            return false;
    read_header(r);
    add_totals(r->profile);
    if (r->version == 1)
        make_certain(r->profile);
    return true;
}

struct profile *pprof_message_read(const Perftools__Profiles__Profile *message, const char *metric,
                                   char *error, size_t error_bytes) {
    struct reader r = {.message = message,
                       .metric = metric,
                       .type = metric != NULL ? metric_type_of_word(metric) : NULL,
                       .profile = profile_new(),
                       .error = error,
                       .error_bytes = error_bytes,
                       .left = INT64_MAX,
                       .left_error = INT64_MAX};
    bool ok = read_message(&r);
    id_free(&r.mappings);
    id_free(&r.functions);
    id_free(&r.locations);
    intern_free(&r.by_owner);
    free(r.owners);
    if (ok)
        return r.profile;
    profile_free(r.profile);
    return NULL;
}
