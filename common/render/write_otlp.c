/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_otlp.c - a profile as OpenTelemetry has it, translated from the message of pprof.
 *
 * The tables of both are alike: ids of pprof, which are numbers from 1 on, are places in the tables
 * here, whose entry 0 is empty. A profile has one type of weight only: each process is a resource
 * with two profiles, the weight and its error. What has no field stands in attributes: comments and
 * build-ids under the names that OpenTelemetry has for them, the rest under "hcct.".
 */
#include "common/render/write_otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/render/otlp.pb-c.h"
#include "common/render/pprof_message.h"

enum { WEIGHT, ERROR, KINDS }; /* as pprof_message_with() has a sample's values */

struct stack {
    const uint64_t *ids;
    size_t n;
};

/* All that is of one process. */
struct resource {
    Perftools__Profiles__Label **labels; /* of its samples, which tells processes apart */
    size_t n_labels;
    Otlp__Profile *profile[KINDS];
    uint32_t room[KINDS];
};

struct translator {
    const Perftools__Profiles__Profile *from;
    const struct otlp_about *about;
    FILE *out;
    struct pool pool;
    struct intern by_text, by_stack, by_attribute, by_labels;
    struct stack *stacks; /* by number */
    struct resource *resources;
    uint32_t n_resources;
    uint32_t string_room, stack_room, stacks_room, attribute_room, resource_room;
    Otlp__ProfilesDictionary dictionary;
    Otlp__ProfilesData data;
};

/* A new message of the pool, initialized. */
#define NEW(t, variable, init)                                                                     \
    (variable = pool_alloc(&(t)->pool, sizeof *(variable)), init(variable))

/* ---- strings and attributes ---- */

static bool same_text(const void *entries, uint32_t i, const void *key) {
    const Otlp__ProfilesDictionary *dictionary = entries;
    return strcmp(dictionary->string_table[i], key) == 0;
}

static int32_t text_index(struct translator *t, const char *text) {
    Otlp__ProfilesDictionary *dictionary = &t->dictionary;
    uint32_t *slot, n = (uint32_t)dictionary->n_string_table;

    if (*text == '\0')
        return 0;
    slot = intern_find(&t->by_text, seeded_hash_bytes(0, text, strlen(text)), same_text, dictionary,
                       text);
    if (*slot == 0) {
        char *copy = pool_alloc(&t->pool, strlen(text) + 1);
        dictionary->string_table = memory_grow(dictionary->string_table, n, &t->string_room,
                                               sizeof *dictionary->string_table, "names");
        dictionary->string_table[dictionary->n_string_table++] = strcpy(copy, text);
        *slot = n;
    }
    return (int32_t)*slot;
}

static const char *text_of(const struct translator *t, int64_t index) {
    return t->from->string_table[index];
}

static int32_t string_index(struct translator *t, int64_t index) {
    return text_index(t, text_of(t, index));
}

static Otlp__AnyValue *new_value(struct translator *t, Otlp__AnyValue__ValueCase kind) {
    Otlp__AnyValue *value;

    NEW(t, value, otlp__any_value__init);
    value->value_case = kind;
    return value;
}

static Otlp__AnyValue *text_value(struct translator *t, const char *text) {
    Otlp__AnyValue *value = new_value(t, OTLP__ANY_VALUE__VALUE_STRING_VALUE);
    char *copy = pool_alloc(&t->pool, strlen(text) + 1);

    value->string_value = strcpy(copy, text);
    return value;
}

static Otlp__AnyValue *int_value(struct translator *t, int64_t number) {
    Otlp__AnyValue *value = new_value(t, OTLP__ANY_VALUE__VALUE_INT_VALUE);

    value->int_value = number;
    return value;
}

static Otlp__AnyValue *double_value(struct translator *t, double number) {
    Otlp__AnyValue *value = new_value(t, OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE);

    value->double_value = number;
    return value;
}

/* Of those kinds that are looked up. */
static bool same_value(const Otlp__AnyValue *a, const Otlp__AnyValue *b) {
    if (a->value_case != b->value_case)
        return false;
    if (a->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
        return strcmp(a->string_value, b->string_value) == 0;
    if (a->value_case == OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE)
        return memcmp(&a->double_value, &b->double_value, sizeof a->double_value) == 0;
    return a->value_case == OTLP__ANY_VALUE__VALUE_INT_VALUE && a->int_value == b->int_value;
}

static uint64_t hash_attribute(const Otlp__KeyValueAndUnit *attribute) {
    const Otlp__AnyValue *value = attribute->value;
    uint64_t hash = seeded_hash((uint64_t)attribute->key_strindex, value->value_case);
    if (value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
        return seeded_hash_bytes(hash, value->string_value, strlen(value->string_value));
    if (value->value_case == OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE)
        return seeded_hash_bytes(hash, &value->double_value, sizeof value->double_value);
    return seeded_hash(hash, (uint64_t)value->int_value);
}

static bool same_attribute(const void *entries, uint32_t i, const void *key) {
    const Otlp__KeyValueAndUnit *have =
        ((const Otlp__ProfilesDictionary *)entries)->attribute_table[i];
    const Otlp__KeyValueAndUnit *want = key;
    return have->key_strindex == want->key_strindex && same_value(have->value, want->value);
}

static int32_t attribute_index(struct translator *t, const char *key, Otlp__AnyValue *value) {
    Otlp__ProfilesDictionary *dictionary = &t->dictionary;
    Otlp__KeyValueAndUnit *attribute;
    uint32_t *slot, n = (uint32_t)dictionary->n_attribute_table;

    NEW(t, attribute, otlp__key_value_and_unit__init);
    attribute->key_strindex = text_index(t, key);
    attribute->value = value;
    slot = intern_find(&t->by_attribute, hash_attribute(attribute), same_attribute, dictionary,
                       attribute);
    if (*slot == 0) {
        dictionary->attribute_table =
            memory_grow(dictionary->attribute_table, n, &t->attribute_room,
                        sizeof *dictionary->attribute_table, "attributes");
        dictionary->attribute_table[dictionary->n_attribute_table++] = attribute;
        *slot = n;
    }
    return (int32_t)*slot;
}

/* ---- tables ---- */

static void add_attribute(struct translator *t, int32_t **indices, size_t *n, size_t most,
                          const char *key, Otlp__AnyValue *value) {
    if (*indices == NULL)
        *indices = pool_alloc(&t->pool, most * sizeof(**indices));
    (*indices)[(*n)++] = attribute_index(t, key, value);
}

static void translate_mappings(struct translator *t) {
    const Perftools__Profiles__Profile *from = t->from;
    Otlp__ProfilesDictionary *to = &t->dictionary;

    to->n_mapping_table = from->n_mapping + 1;
    to->mapping_table = pool_alloc(&t->pool, to->n_mapping_table * sizeof *to->mapping_table);
    NEW(t, to->mapping_table[0], otlp__mapping__init);
    for (size_t i = 0; i < from->n_mapping; i++) {
        const Perftools__Profiles__Mapping *source = from->mapping[i];
        Otlp__Mapping *mapping;

        NEW(t, mapping, otlp__mapping__init);
        mapping->memory_start = source->memory_start;
        mapping->memory_limit = source->memory_limit;
        mapping->file_offset = source->file_offset;
        mapping->filename_strindex = string_index(t, source->filename);
        if (source->build_id != 0)
            add_attribute(t, &mapping->attribute_indices, &mapping->n_attribute_indices, 1,
                          "process.executable.build_id.gnu",
                          text_value(t, text_of(t, source->build_id)));
        to->mapping_table[i + 1] = mapping;
    }
}

static void translate_functions(struct translator *t) {
    const Perftools__Profiles__Profile *from = t->from;
    Otlp__ProfilesDictionary *to = &t->dictionary;

    to->n_function_table = from->n_function + 1;
    to->function_table = pool_alloc(&t->pool, to->n_function_table * sizeof *to->function_table);
    NEW(t, to->function_table[0], otlp__function__init);
    for (size_t i = 0; i < from->n_function; i++) {
        const Perftools__Profiles__Function *source = from->function[i];
        Otlp__Function *function;

        NEW(t, function, otlp__function__init);
        function->name_strindex = string_index(t, source->name);
        function->system_name_strindex = string_index(t, source->system_name);
        function->filename_strindex = string_index(t, source->filename);
        function->start_line = source->start_line;
        if (source->name == 0 && source->system_name == 0 && source->filename == 0)
            function->name_strindex = text_index(t, "[no name]"); /* one of them must be there */
        to->function_table[i + 1] = function;
    }
}

static void translate_lines(struct translator *t, Otlp__Location *location,
                            const Perftools__Profiles__Location *source) {
    location->lines = pool_alloc(&t->pool, source->n_line * sizeof *location->lines);
    for (size_t k = 0; k < source->n_line; k++) {
        Otlp__Line *line;

        NEW(t, line, otlp__line__init);
        line->function_index = (int32_t)source->line[k]->function_id;
        line->line = source->line[k]->line;
        location->lines[location->n_lines++] = line;
    }
}

static void translate_own_fields(struct translator *t, Otlp__Location *location,
                                 const Perftools__Profiles__Location *source) {
    enum { MOST = 4 };
    int32_t **indices = &location->attribute_indices;
    size_t *n = &location->n_attribute_indices;

    if (source->hcct_entry)
        add_attribute(t, indices, n, MOST, "hcct.entry", int_value(t, 1));
    if (source->hcct_routine != 0)
        add_attribute(t, indices, n, MOST, "hcct.routine",
                      int_value(t, (int64_t)source->hcct_routine));
    if (source->hcct_effect != 0)
        add_attribute(t, indices, n, MOST, "hcct.effect",
                      double_value(t, (double)source->hcct_effect));
    if (source->hcct_self_effect != 0)
        add_attribute(t, indices, n, MOST, "hcct.self_effect",
                      double_value(t, (double)source->hcct_self_effect));
}

static void translate_locations(struct translator *t) {
    const Perftools__Profiles__Profile *from = t->from;
    Otlp__ProfilesDictionary *to = &t->dictionary;

    to->n_location_table = from->n_location + 1;
    to->location_table = pool_alloc(&t->pool, to->n_location_table * sizeof *to->location_table);
    NEW(t, to->location_table[0], otlp__location__init);
    for (size_t i = 0; i < from->n_location; i++) {
        const Perftools__Profiles__Location *source = from->location[i];
        Otlp__Location *location;

        NEW(t, location, otlp__location__init);
        location->mapping_index = (int32_t)source->mapping_id;
        location->address = source->address;
        translate_lines(t, location, source);
        translate_own_fields(t, location, source);
        to->location_table[i + 1] = location;
    }
}

/* The first entries of the tables that grow, and of the one that we have nothing for. */
static void begin_tables(struct translator *t) {
    Otlp__ProfilesDictionary *to = &t->dictionary;
    char *empty = pool_alloc(&t->pool, 1);

    otlp__profiles_dictionary__init(to);
    to->string_table = memory_grow(NULL, 0, &t->string_room, sizeof *to->string_table, "names");
    to->string_table[to->n_string_table++] = empty;
    to->attribute_table =
        memory_grow(NULL, 0, &t->attribute_room, sizeof *to->attribute_table, "attributes");
    NEW(t, to->attribute_table[0], otlp__key_value_and_unit__init);
    to->n_attribute_table = 1;
    to->stack_table = memory_grow(NULL, 0, &t->stack_room, sizeof *to->stack_table, "stacks");
    NEW(t, to->stack_table[0], otlp__stack__init);
    to->n_stack_table = 1;
    to->n_link_table = 1;
    to->link_table = pool_alloc(&t->pool, sizeof *to->link_table);
    NEW(t, to->link_table[0], otlp__link__init);
}

static bool same_stack(const void *entries, uint32_t i, const void *key) {
    const struct stack *have = &((const struct translator *)entries)->stacks[i], *want = key;
    return have->n == want->n && memcmp(have->ids, want->ids, want->n * sizeof *want->ids) == 0;
}

static int32_t stack_index(struct translator *t, const Perftools__Profiles__Sample *sample) {
    Otlp__ProfilesDictionary *to = &t->dictionary;
    struct stack stack = {.ids = sample->location_id, .n = sample->n_location_id};
    uint32_t *slot, n = (uint32_t)to->n_stack_table;

    if (stack.n == 0)
        return 0;
    slot = intern_find(&t->by_stack, seeded_hash_bytes(0, stack.ids, stack.n * sizeof *stack.ids),
                       same_stack, t, &stack);
    if (*slot == 0) {
        Otlp__Stack *message;

        NEW(t, message, otlp__stack__init);
        message->location_indices =
            pool_alloc(&t->pool, stack.n * sizeof *message->location_indices);
        for (size_t k = 0; k < stack.n; k++)
            message->location_indices[message->n_location_indices++] = (int32_t)stack.ids[k];
        to->stack_table =
            memory_grow(to->stack_table, n, &t->stack_room, sizeof *to->stack_table, "stacks");
        to->stack_table[to->n_stack_table++] = message;
        t->stacks = memory_grow(t->stacks, n, &t->stacks_room, sizeof *t->stacks, "stacks");
        t->stacks[n] = stack;
        *slot = n;
    }
    return (int32_t)*slot;
}

/* ---- resources ---- */

static Otlp__ValueType *value_type(struct translator *t,
                                   const Perftools__Profiles__ValueType *from) {
    Otlp__ValueType *type;

    NEW(t, type, otlp__value_type__init);
    type->type_strindex = string_index(t, from->type);
    type->unit_strindex = string_index(t, from->unit);
    return type;
}

static void set_id(struct translator *t, Otlp__Profile *profile, int kind) {
    uint8_t *id = pool_alloc(&t->pool, OTLP_ID_BYTES);
    uint32_t number = t->n_resources * KINDS + (uint32_t)kind;
    memcpy(id, t->about->id, OTLP_ID_BYTES);
    for (int i = 0; i < 4; i++)
        id[OTLP_ID_BYTES - 1 - i] ^= (uint8_t)(number >> 8 * i);
    profile->profile_id = (ProtobufCBinaryData){.len = OTLP_ID_BYTES, .data = id};
}

static Otlp__Profile *new_profile(struct translator *t, int kind) {
    const Perftools__Profiles__Profile *from = t->from;
    Otlp__Profile *profile;

    NEW(t, profile, otlp__profile__init);
    profile->sample_type = value_type(t, from->sample_type[kind]);
    profile->time_unix_nano = (uint64_t)from->time_nanos;
    profile->duration_nano = (uint64_t)from->duration_nanos;
    if (from->period_type != NULL)
        profile->period_type = value_type(t, from->period_type);
    profile->period = from->period;
    if (t->about->id != NULL)
        set_id(t, profile, kind);
    return profile;
}

static bool same_labels(const void *entries, uint32_t i, const void *key) {
    return ((const struct translator *)entries)->resources[i - 1].labels == key;
}

static struct resource *resource_of(struct translator *t, Perftools__Profiles__Label **labels,
                                    size_t n_labels) {
    uint32_t *slot =
        intern_find(&t->by_labels, seeded_hash(0, (uintptr_t)labels), same_labels, t, labels);
    if (*slot == 0) {
        struct resource *made;
        t->resources = memory_grow(t->resources, t->n_resources, &t->resource_room,
                                   sizeof *t->resources, "processes");
        made = &t->resources[t->n_resources];
        *made = (struct resource){.labels = labels, .n_labels = n_labels};
        for (int kind = 0; kind < KINDS; kind++)
            made->profile[kind] = new_profile(t, kind);
        *slot = ++t->n_resources;
    }
    return &t->resources[*slot - 1];
}

static void translate_sample(struct translator *t, const Perftools__Profiles__Sample *from) {
    struct resource *resource = resource_of(t, from->label, from->n_label);
    int32_t stack = stack_index(t, from);
    for (int kind = 0; kind < KINDS; kind++) {
        Otlp__Profile *profile = resource->profile[kind];
        Otlp__Sample *sample;

        if (from->value[kind] == 0)
            continue;
        NEW(t, sample, otlp__sample__init);
        sample->stack_index = stack;
        sample->n_values = 1;
        sample->values = &from->value[kind];
        profile->samples = memory_grow(profile->samples, (uint32_t)profile->n_samples,
                                       &resource->room[kind], sizeof *profile->samples, "samples");
        profile->samples[profile->n_samples++] = sample;
    }
}

/* All comments, with the first profile: they are of the whole. */
static void add_comments(struct translator *t, Otlp__Profile *profile) {
    Otlp__AnyValue *list = new_value(t, OTLP__ANY_VALUE__VALUE_ARRAY_VALUE);
    Otlp__KeyValueAndUnit *attribute;
    uint32_t n = (uint32_t)t->dictionary.n_attribute_table;

    NEW(t, list->array_value, otlp__array_value__init);
    list->array_value->values = pool_alloc(&t->pool, t->from->n_comment * sizeof(void *));
    for (size_t i = 0; i < t->from->n_comment; i++)
        list->array_value->values[list->array_value->n_values++] =
            text_value(t, text_of(t, t->from->comment[i]));
    NEW(t, attribute, otlp__key_value_and_unit__init);
    attribute->key_strindex = text_index(t, "pprof.profile.comment");
    attribute->value = list;
    t->dictionary.attribute_table =
        memory_grow(t->dictionary.attribute_table, n, &t->attribute_room,
                    sizeof *t->dictionary.attribute_table, "attributes");
    t->dictionary.attribute_table[t->dictionary.n_attribute_table++] = attribute;
    profile->attribute_indices = pool_alloc(&t->pool, sizeof *profile->attribute_indices);
    profile->attribute_indices[profile->n_attribute_indices++] = (int32_t)n;
}

static void add_pair(struct translator *t, Otlp__KeyValue **list, size_t *n, const char *key,
                     Otlp__AnyValue *value) {
    char *copy = pool_alloc(&t->pool, strlen(key) + 1);
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i]->key, key) == 0)
            return; /* keys are unique: the first one counts */
    NEW(t, list[*n], otlp__key_value__init);
    list[*n]->key = strcpy(copy, key);
    list[(*n)++]->value = value;
}

static Otlp__Resource *new_resource(struct translator *t, const struct resource *from) {
    enum { OWN = 2 }; /* labels that become two attributes */
    const struct otlp_about *about = t->about;
    Otlp__Resource *resource;

    NEW(t, resource, otlp__resource__init);
    resource->attributes = pool_alloc(&t->pool, (from->n_labels + OWN + about->n_attributes) *
                                                    sizeof *resource->attributes);
    for (size_t i = 0; i < about->n_attributes; i++)
        add_pair(t, resource->attributes, &resource->n_attributes, about->attributes[i].key,
                 text_value(t, about->attributes[i].value));
    for (size_t i = 0; i < from->n_labels; i++) /* the tag of that name comes first */
        if (strcmp(text_of(t, from->labels[i]->key), "service") == 0)
            add_pair(t, resource->attributes, &resource->n_attributes, "service.name",
                     text_value(t, text_of(t, from->labels[i]->str)));
    for (size_t i = 0; i < from->n_labels; i++) {
        const Perftools__Profiles__Label *label = from->labels[i];
        const char *key = text_of(t, label->key), *text = text_of(t, label->str);
        if (strcmp(key, "process") == 0) {
            add_pair(t, resource->attributes, &resource->n_attributes, "hcct.process",
                     text_value(t, text));
            add_pair(t, resource->attributes, &resource->n_attributes, "service.name",
                     text_value(t, text));
        } else if (strcmp(key, "pid") == 0) {
            add_pair(t, resource->attributes, &resource->n_attributes, "process.pid",
                     int_value(t, label->num));
        } else {
            add_pair(t, resource->attributes, &resource->n_attributes, key, text_value(t, text));
        }
    }
    return resource;
}

/* Who made it, and which of the types is to be shown first. */
static Otlp__InstrumentationScope *new_scope(struct translator *t) {
    Otlp__InstrumentationScope *scope;

    NEW(t, scope, otlp__instrumentation_scope__init);
    scope->name = strcpy(pool_alloc(&t->pool, sizeof("hcct")), "hcct");
    scope->version = strcpy(pool_alloc(&t->pool, sizeof(HCCT_VERSION)), HCCT_VERSION);
    scope->attributes = pool_alloc(&t->pool, sizeof *scope->attributes);
    add_pair(t, scope->attributes, &scope->n_attributes, "pprof.scope.default_sample_type",
             text_value(t, text_of(t, t->from->default_sample_type)));
    return scope;
}

static void add_resource(struct translator *t, const struct resource *from) {
    Otlp__ResourceProfiles *message;
    Otlp__ScopeProfiles *scope;

    NEW(t, message, otlp__resource_profiles__init);
    NEW(t, scope, otlp__scope_profiles__init);
    message->resource = new_resource(t, from);
    scope->scope = new_scope(t);
    scope->n_profiles = KINDS;
    scope->profiles = pool_alloc(&t->pool, KINDS * sizeof *scope->profiles);
    memcpy(scope->profiles, from->profile, KINDS * sizeof *scope->profiles);
    message->n_scope_profiles = 1;
    message->scope_profiles = pool_alloc(&t->pool, sizeof *message->scope_profiles);
    message->scope_profiles[0] = scope;
    t->data.resource_profiles[t->data.n_resource_profiles++] = message;
}

/* ---- the whole ---- */

static void translate(struct translator *t) {
    begin_tables(t);
    translate_mappings(t);
    translate_functions(t);
    translate_locations(t);
    for (size_t i = 0; i < t->from->n_sample; i++)
        translate_sample(t, t->from->sample[i]);
    if (t->n_resources == 0)
        resource_of(t, NULL, 0);
    add_comments(t, t->resources[0].profile[WEIGHT]);

    otlp__profiles_data__init(&t->data);
    t->data.dictionary = &t->dictionary;
    t->data.resource_profiles =
        pool_alloc(&t->pool, t->n_resources * sizeof *t->data.resource_profiles);
    for (uint32_t i = 0; i < t->n_resources; i++)
        add_resource(t, &t->resources[i]);
}

static bool write_data(FILE *out, const Otlp__ProfilesData *data) {
    size_t bytes = otlp__profiles_data__get_packed_size(data);
    uint8_t *plain = memory_new(bytes, 1, "the profile file");
    bool ok;
    otlp__profiles_data__pack(data, plain);
    ok = fwrite(plain, 1, bytes, out) == bytes && fflush(out) == 0;
    free(plain);
    return ok;
}

static bool write_message(const Perftools__Profiles__Profile *message, void *arg) {
    struct translator *t = arg;
    bool ok;
    t->from = message;
    translate(t);
    ok = write_data(t->out, &t->data);
    for (uint32_t i = 0; i < t->n_resources; i++)
        for (int kind = 0; kind < KINDS; kind++)
            free(t->resources[i].profile[kind]->samples);
    free(t->resources);
    free(t->stacks);
    free(t->dictionary.string_table);
    free(t->dictionary.attribute_table);
    free(t->dictionary.stack_table);
    intern_free(&t->by_text);
    intern_free(&t->by_stack);
    intern_free(&t->by_attribute);
    intern_free(&t->by_labels);
    pool_free(&t->pool);
    return ok;
}

bool write_otlp_about(FILE *out, const struct profile *profile,
                      const struct format_options *options, const struct otlp_about *about) {
    struct translator t = {.about = about, .out = out};
    return pprof_message_with(profile, options, write_message, &t);
}

bool write_otlp(FILE *out, const struct profile *profile, const struct format_options *options) {
    return write_otlp_about(out, profile, options, &(struct otlp_about){.n_attributes = 0});
}
