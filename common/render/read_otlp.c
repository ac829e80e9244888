/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * read_otlp.c - profiles of OpenTelemetry, of ours and of other tools, translated to the message of
 * pprof, which is read as if it came from a file.
 *
 * Places in the tables become ids; whoever reads the message checks them. What is checked here is
 * what this file looks up itself: strings, attributes, stacks. Each type of weight in any of the
 * profiles becomes a type of the one that is made, in which a sample has its weight of one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/render/format.h"
#include "common/render/otlp.pb-c.h"
#include "common/render/pprof_message.h"

#define MAX_TYPES    32
#define MAX_COMMENTS 100000

struct translator {
    const Otlp__ProfilesDictionary *from;
    Perftools__Profiles__Profile to;
    struct pool pool;
    char *error;
    size_t error_bytes;
    uint32_t string_room, sample_room, comment_room;
    Perftools__Profiles__ValueType *types[MAX_TYPES];
    int64_t key_process, key_pid; /* names of labels */
};

/* What a resource or a sample says of its process. */
struct owner {
    int64_t name; /* a string of `to` */
    int64_t pid;
    bool ours; /* the name is the label that pprof's samples would have */
};

#define FAIL(t, ...) (snprintf((t)->error, (t)->error_bytes, __VA_ARGS__), false)
#define NEW(t, variable, init)                                                                     \
    (variable = pool_alloc(&(t)->pool, sizeof *(variable)), init(variable))

/* ---- strings and attributes ---- */

static bool check_index(struct translator *t, const char *what, int64_t index, size_t n) {
    if (index < 0 || (uint64_t)index >= n)
        return FAIL(t, "it is damaged: it refers to %s %" PRId64 " of %zu", what, index, n);
    return true;
}

static int64_t add_text(struct translator *t, const char *text) {
    char *copy = pool_alloc(&t->pool, strlen(text) + 1);
    uint32_t n = (uint32_t)t->to.n_string_table;
    t->to.string_table =
        memory_grow(t->to.string_table, n, &t->string_room, sizeof *t->to.string_table, "names");
    t->to.string_table[t->to.n_string_table++] = strcpy(copy, text);
    return n;
}

static bool read_strings(struct translator *t) {
    if (t->from->n_string_table == 0 || t->from->string_table[0][0] != '\0' ||
        t->from->n_string_table > INT32_MAX)
        return FAIL(t, "it is not a profile of OpenTelemetry: it has no strings");
    for (size_t i = 0; i < t->from->n_string_table; i++)
        add_text(t, t->from->string_table[i]);
    t->key_process = add_text(t, "process");
    t->key_pid = add_text(t, "pid");
    return true;
}

/* NULL: it is no text, or one that is not there. */
static const char *value_text(const struct translator *t, const Otlp__AnyValue *value) {
    if (value != NULL && value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
        return value->string_value;
    if (value != NULL && value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX &&
        value->string_value_strindex >= 0 &&
        (size_t)value->string_value_strindex < t->from->n_string_table)
        return t->from->string_table[value->string_value_strindex];
    return NULL;
}

static int64_t value_int(const Otlp__AnyValue *value) {
    return value != NULL && value->value_case == OTLP__ANY_VALUE__VALUE_INT_VALUE ? value->int_value
                                                                                  : 0;
}

static double value_double(const Otlp__AnyValue *value) {
    return value != NULL && value->value_case == OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE
               ? value->double_value
               : 0;
}

/* An entry of the table of attributes; false: it is not there. */
static bool get_attribute(struct translator *t, int32_t index, const char **key,
                          const Otlp__AnyValue **value) {
    const Otlp__KeyValueAndUnit *attribute;
    if (!check_index(t, "attribute", index, t->from->n_attribute_table))
        return false;
    attribute = t->from->attribute_table[index];
    if (!check_index(t, "string", attribute->key_strindex, t->from->n_string_table))
        return false;
    *key = t->from->string_table[attribute->key_strindex];
    *value = attribute->value;
    return true;
}

static void note_owner(struct translator *t, struct owner *owner, const char *key,
                       const Otlp__AnyValue *value) {
    const char *text = value_text(t, value);
    bool ours = strcmp(key, "hcct.process") == 0;
    if (strcmp(key, "process.pid") == 0)
        owner->pid = value_int(value);
    else if (text != NULL && !owner->ours &&
             (ours || strcmp(key, "process.executable.name") == 0 ||
              (strcmp(key, "service.name") == 0 && owner->name == 0))) {
        owner->name = add_text(t, text);
        owner->ours = ours;
    }
}

/* ---- tables ---- */

static bool read_mappings(struct translator *t) {
    const Otlp__ProfilesDictionary *from = t->from;
    t->to.mapping = pool_alloc(&t->pool, from->n_mapping_table * sizeof *t->to.mapping);
    for (size_t i = 1; i < from->n_mapping_table; i++) {
        const Otlp__Mapping *source = from->mapping_table[i];
        Perftools__Profiles__Mapping *mapping;
        NEW(t, mapping, perftools__profiles__mapping__init);
        mapping->id = i;
        mapping->memory_start = source->memory_start;
        mapping->memory_limit = source->memory_limit;
        mapping->file_offset = source->file_offset;
        mapping->filename = source->filename_strindex;
        for (size_t k = 0; k < source->n_attribute_indices; k++) {
            const Otlp__AnyValue *value;
            const char *key, *text;
            if (!get_attribute(t, source->attribute_indices[k], &key, &value))
                return false;
            text = value_text(t, value);
            if (text != NULL && strcmp(key, "process.executable.build_id.gnu") == 0)
                mapping->build_id = add_text(t, text);
        }
        t->to.mapping[t->to.n_mapping++] = mapping;
    }
    return true;
}

static void read_functions(struct translator *t) {
    const Otlp__ProfilesDictionary *from = t->from;
    t->to.function = pool_alloc(&t->pool, from->n_function_table * sizeof *t->to.function);
    for (size_t i = 1; i < from->n_function_table; i++) {
        const Otlp__Function *source = from->function_table[i];
        Perftools__Profiles__Function *function;
        NEW(t, function, perftools__profiles__function__init);
        function->id = i;
        function->name = source->name_strindex;
        function->system_name = source->system_name_strindex;
        function->filename = source->filename_strindex;
        function->start_line = source->start_line;
        t->to.function[t->to.n_function++] = function;
    }
}

static bool read_own_fields(struct translator *t, Perftools__Profiles__Location *location,
                            const Otlp__Location *source) {
    for (size_t k = 0; k < source->n_attribute_indices; k++) {
        const Otlp__AnyValue *value;
        const char *key;
        if (!get_attribute(t, source->attribute_indices[k], &key, &value))
            return false;
        if (strcmp(key, "hcct.entry") == 0)
            location->hcct_entry = value_int(value) != 0;
        else if (strcmp(key, "hcct.routine") == 0)
            location->hcct_routine = (uint64_t)value_int(value);
        else if (strcmp(key, "hcct.effect") == 0)
            location->hcct_effect = (float)value_double(value);
        else if (strcmp(key, "hcct.self_effect") == 0)
            location->hcct_self_effect = (float)value_double(value);
    }
    return true;
}

static bool read_locations(struct translator *t) {
    const Otlp__ProfilesDictionary *from = t->from;
    t->to.location = pool_alloc(&t->pool, from->n_location_table * sizeof *t->to.location);
    for (size_t i = 1; i < from->n_location_table; i++) {
        const Otlp__Location *source = from->location_table[i];
        Perftools__Profiles__Location *location;
        NEW(t, location, perftools__profiles__location__init);
        location->id = i;
        location->mapping_id = (uint64_t)(int64_t)source->mapping_index;
        location->address = source->address;
        location->line = pool_alloc(&t->pool, source->n_lines * sizeof *location->line);
        for (size_t k = 0; k < source->n_lines; k++) {
            Perftools__Profiles__Line *line;
            NEW(t, line, perftools__profiles__line__init);
            line->function_id = (uint64_t)(int64_t)source->lines[k]->function_index;
            line->line = source->lines[k]->line;
            location->line[location->n_line++] = line;
        }
        if (!read_own_fields(t, location, source))
            return false;
        t->to.location[t->to.n_location++] = location;
    }
    return true;
}

/* ---- samples ---- */

/* The place of a type among those of the message. */
static bool find_type(struct translator *t, const Otlp__ValueType *from, size_t *type) {
    const Otlp__ValueType none = OTLP__VALUE_TYPE__INIT;
    if (from == NULL)
        from = &none;
    for (*type = 0; *type < t->to.n_sample_type; (*type)++)
        if (t->types[*type]->type == from->type_strindex &&
            t->types[*type]->unit == from->unit_strindex)
            return true;
    if (*type == MAX_TYPES)
        return FAIL(t, "it has more than %d types of weight", MAX_TYPES);
    NEW(t, t->types[*type], perftools__profiles__value_type__init);
    t->types[*type]->type = from->type_strindex;
    t->types[*type]->unit = from->unit_strindex;
    t->to.n_sample_type++;
    return true;
}

/* Its weight in all; each time stamp alone stands for one. */
static bool sum_values(struct translator *t, const Otlp__Sample *sample, int64_t *sum) {
    *sum = sample->n_values == 0 ? (int64_t)sample->n_timestamps_unix_nano : 0;
    for (size_t i = 0; i < sample->n_values; i++)
        if (__builtin_add_overflow(*sum, sample->values[i], sum))
            return FAIL(t, "it is damaged: its weights are too large to be added up");
    return true;
}

static bool read_stack(struct translator *t, Perftools__Profiles__Sample *to, int32_t index) {
    const Otlp__Stack *stack;
    if (!check_index(t, "stack", index, t->from->n_stack_table))
        return false;
    stack = t->from->stack_table[index];
    to->location_id = pool_alloc(&t->pool, stack->n_location_indices * sizeof *to->location_id);
    for (size_t k = 0; k < stack->n_location_indices; k++)
        if (stack->location_indices[k] != 0)
            to->location_id[to->n_location_id++] = (uint64_t)(int64_t)stack->location_indices[k];
    return true;
}

static void add_labels(struct translator *t, Perftools__Profiles__Sample *to,
                       const struct owner *owner) {
    to->label = pool_alloc(&t->pool, 2 * sizeof *to->label);
    if (owner->name != 0) {
        NEW(t, to->label[to->n_label], perftools__profiles__label__init);
        to->label[to->n_label]->key = t->key_process;
        to->label[to->n_label++]->str = owner->name;
    }
    if (owner->pid != 0) {
        NEW(t, to->label[to->n_label], perftools__profiles__label__init);
        to->label[to->n_label]->key = t->key_pid;
        to->label[to->n_label++]->num = owner->pid;
    }
}

static bool read_sample(struct translator *t, const Otlp__Sample *from, size_t type,
                        const struct owner *of_resource) {
    struct owner owner = *of_resource;
    Perftools__Profiles__Sample *to;
    uint32_t n = (uint32_t)t->to.n_sample;
    NEW(t, to, perftools__profiles__sample__init);
    for (size_t k = 0; k < from->n_attribute_indices; k++) {
        const Otlp__AnyValue *value;
        const char *key;
        if (!get_attribute(t, from->attribute_indices[k], &key, &value))
            return false;
        note_owner(t, &owner, key, value);
    }
    to->n_value = t->to.n_sample_type;
    to->value = pool_alloc(&t->pool, to->n_value * sizeof *to->value);
    if (!sum_values(t, from, &to->value[type]) || !read_stack(t, to, from->stack_index))
        return false;
    add_labels(t, to, &owner);
    t->to.sample = memory_grow(t->to.sample, n, &t->sample_room, sizeof *t->to.sample, "samples");
    t->to.sample[t->to.n_sample++] = to;
    return true;
}

/* ---- profiles ---- */

typedef bool profile_use(struct translator *t, const Otlp__Profile *profile,
                         const struct owner *owner);

static void add_comment(struct translator *t, const char *text) {
    uint32_t n = (uint32_t)t->to.n_comment;
    if (text == NULL || n == MAX_COMMENTS)
        return;
    t->to.comment =
        memory_grow(t->to.comment, n, &t->comment_room, sizeof *t->to.comment, "comments");
    t->to.comment[t->to.n_comment++] = add_text(t, text);
}

static bool read_comments(struct translator *t, const Otlp__Profile *profile) {
    for (size_t k = 0; k < profile->n_attribute_indices; k++) {
        const Otlp__AnyValue *value;
        const char *key;
        if (!get_attribute(t, profile->attribute_indices[k], &key, &value))
            return false;
        if (strcmp(key, "pprof.profile.comment") == 0 && value != NULL &&
            value->value_case == OTLP__ANY_VALUE__VALUE_ARRAY_VALUE)
            for (size_t i = 0; i < value->array_value->n_values; i++)
                add_comment(t, value_text(t, value->array_value->values[i]));
    }
    return true;
}

static void read_times(struct translator *t, const Otlp__Profile *from) {
    if (t->to.time_nanos == 0 || (int64_t)from->time_unix_nano < t->to.time_nanos)
        t->to.time_nanos = (int64_t)from->time_unix_nano;
    if ((int64_t)from->duration_nano > t->to.duration_nanos)
        t->to.duration_nanos = (int64_t)from->duration_nano;
    if (from->period > 0 && t->to.period_type == NULL && from->period_type != NULL) {
        NEW(t, t->to.period_type, perftools__profiles__value_type__init);
        t->to.period_type->type = from->period_type->type_strindex;
        t->to.period_type->unit = from->period_type->unit_strindex;
        t->to.period = from->period;
    }
}

static bool read_profile_message(struct translator *t, const Otlp__Profile *from,
                                 const struct owner *owner) {
    size_t type;
    if (!find_type(t, from->sample_type, &type))
        return false;
    for (size_t i = 0; i < from->n_samples; i++)
        if (!read_sample(t, from->samples[i], type, owner))
            return false;
    return true;
}

/* All that is to be known before the first sample. */
static bool read_head(struct translator *t, const Otlp__Profile *from, const struct owner *owner) {
    size_t type;
    (void)owner;
    if (!find_type(t, from->sample_type, &type) || !read_comments(t, from))
        return false;
    read_times(t, from);
    return true;
}

/* The type that is to be shown first is named in the scope. */
static void read_scope(struct translator *t, const Otlp__InstrumentationScope *scope) {
    for (size_t i = 0; scope != NULL && i < scope->n_attributes; i++) {
        const char *text = value_text(t, scope->attributes[i]->value);
        if (text == NULL ||
            strcmp(scope->attributes[i]->key, "pprof.scope.default_sample_type") != 0)
            continue;
        for (size_t k = 1; k < t->from->n_string_table && t->to.default_sample_type == 0; k++)
            if (strcmp(t->from->string_table[k], text) == 0)
                t->to.default_sample_type = (int64_t)k;
    }
}

static bool each_profile(struct translator *t, const Otlp__ResourceProfiles *from,
                         profile_use *use) {
    struct owner owner = {.name = 0};
    for (size_t i = 0; from->resource != NULL && i < from->resource->n_attributes; i++)
        note_owner(t, &owner, from->resource->attributes[i]->key,
                   from->resource->attributes[i]->value);
    for (size_t i = 0; i < from->n_scope_profiles; i++) {
        const Otlp__ScopeProfiles *scope = from->scope_profiles[i];
        read_scope(t, scope->scope);
        for (size_t k = 0; k < scope->n_profiles; k++)
            if (!use(t, scope->profiles[k], &owner))
                return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool translate(struct translator *t, const Otlp__ProfilesData *data) {
    perftools__profiles__profile__init(&t->to);
    if (data->dictionary == NULL)
        return FAIL(t, "it is not a profile of OpenTelemetry: it has no dictionary");
    t->from = data->dictionary;
    if (!read_strings(t) || !read_mappings(t) || !read_locations(t))
        return false;
    read_functions(t);
    t->to.sample_type = t->types;
    for (size_t i = 0; i < data->n_resource_profiles; i++)
        if (!each_profile(t, data->resource_profiles[i], read_head))
            return false;
    for (size_t i = 0; i < data->n_resource_profiles; i++)
        if (!each_profile(t, data->resource_profiles[i], read_profile_message))
            return false;
    return true;
}

struct profile *read_otlp(const void *data, size_t bytes, char *error, size_t error_bytes) {
    struct translator t = {.error = error, .error_bytes = error_bytes};
    struct pprof_budget budget;
    struct profile *profile = NULL;
    Otlp__ProfilesData *message;

    pprof_budget_init(&budget);
    message = otlp__profiles_data__unpack(&budget.allocator, bytes, data);
    if (message == NULL) {
        snprintf(error, error_bytes, "%s",
                 budget.exceeded ? "it is larger than any profile may be"
                                 : "it is not a profile of OpenTelemetry, or it is damaged");
        return NULL;
    }
    if (translate(&t, message))
        profile = pprof_message_read(&t.to, NULL, error, error_bytes);
    otlp__profiles_data__free_unpacked(message, &budget.allocator);
    free(t.to.string_table);
    free(t.to.sample);
    free(t.to.comment);
    pool_free(&t.pool);
    return profile;
}
