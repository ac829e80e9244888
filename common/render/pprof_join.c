/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_join.c - messages appended to one another: ids, strings and addresses of each are moved
 * behind those of the ones before.
 *
 * Nothing is looked up but strings: functions and places that several metrics have stand there once
 * for each, which gzip makes small, and which viewers add up by their names.
 */
#include "common/render/pprof_join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/gzip.h"
#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/render/pprof_comments.h"
#include "common/render/pprof_message.h"

#define PAGE       4096
#define PARTS_MAX  16
#define TYPES_EACH 2 /* the weight, and its error */

struct join {
    Perftools__Profiles__Profile *part[PARTS_MAX];
    struct pprof_budget budget;
    size_t n;
    struct pool pool;
    struct intern by_text;
    uint32_t string_room;
    Perftools__Profiles__Profile message;
    /* of the part that is being appended: what its numbers are moved by */
    uint64_t mappings, locations, functions, address;
    const Perftools__Profiles__Profile *from;
    char *error;
    size_t error_bytes;
};

static bool fail(struct join *j, const char *sentence) {
    snprintf(j->error, j->error_bytes, "%s", sentence);
    return false;
}

/* ---- parts ---- */

static bool unpack(struct join *j, const struct pprof_part *part) {
    const void *data = part->data;
    size_t bytes = part->bytes;
    uint8_t *plain = NULL;
    if (gzip_is(data, bytes)) {
        plain = gzip_unpack(data, bytes, PPROF_MAX_PLAIN_BYTES, &bytes, j->error, j->error_bytes);
        if (plain == NULL)
            return false;
        data = plain;
    }
    j->part[j->n] = perftools__profiles__profile__unpack(&j->budget.allocator, bytes, data);
    free(plain);
    if (j->part[j->n] == NULL)
        return fail(j, "it is not a pprof profile, or it is damaged or cut off");
    j->n++;
    return true;
}

static bool text_is(const Perftools__Profiles__Profile *message, int64_t number) {
    return number >= 0 && (uint64_t)number < message->n_string_table;
}

/* As write_pprof wrote it; all else that is in it is carried over, right or wrong. */
static bool is_ours(const Perftools__Profiles__Profile *message) {
    bool ours = message->n_sample_type == TYPES_EACH && message->n_string_table > 0;
    for (size_t i = 0; i < message->n_sample_type && ours; i++)
        ours = text_is(message, message->sample_type[i]->type) &&
               text_is(message, message->sample_type[i]->unit);
    for (size_t i = 0; i < message->n_sample && ours; i++)
        ours = message->sample[i]->n_value == TYPES_EACH;
    return ours;
}

static const char *type_of(const Perftools__Profiles__Profile *message) {
    return message->string_table[message->sample_type[0]->type];
}

static bool differ(const struct join *j) {
    for (size_t i = 0; i < j->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(type_of(j->part[i]), type_of(j->part[k])) == 0)
                return false;
    return true;
}

/* ---- strings ---- */

static bool same_text(const void *entries, uint32_t i, const void *key) {
    const Perftools__Profiles__Profile *message = entries;
    return strcmp(message->string_table[i], key) == 0;
}

/* `text` lives as long as its part. */
static int64_t text_id(struct join *j, char *text) {
    Perftools__Profiles__Profile *message = &j->message;
    uint32_t n = (uint32_t)message->n_string_table;
    uint32_t *slot;
    if (*text == '\0' && n > 0)
        return 0;
    slot = intern_find(&j->by_text, seeded_hash_bytes(0, text, strlen(text)), same_text, message,
                       text);
    if (*slot != 0)
        return *slot;
    message->string_table = memory_grow(message->string_table, n, &j->string_room,
                                        sizeof *message->string_table, "names");
    message->string_table[n] = text;
    message->n_string_table = n + 1;
    *slot = n;
    return n;
}

static void move_text(struct join *j, int64_t *number) {
    *number = text_is(j->from, *number) ? text_id(j, j->from->string_table[*number]) : 0;
}

/* ---- tables ---- */

static void move_sample_type(struct join *j, Perftools__Profiles__ValueType *type) {
    move_text(j, &type->type);
    move_text(j, &type->unit);
}

static void move_id(uint64_t *id, uint64_t by) {
    *id = *id != 0 ? *id + by : 0;
}

static void move_mapping(struct join *j, Perftools__Profiles__Mapping *mapping) {
    move_id(&mapping->id, j->mappings);
    mapping->memory_start += j->address;
    mapping->memory_limit += j->address;
    move_text(j, &mapping->filename);
    move_text(j, &mapping->build_id);
}

static void move_function(struct join *j, Perftools__Profiles__Function *function) {
    move_id(&function->id, j->functions);
    move_text(j, &function->name);
    move_text(j, &function->system_name);
    move_text(j, &function->filename);
}

static void move_location(struct join *j, Perftools__Profiles__Location *location) {
    move_id(&location->id, j->locations);
    if (location->mapping_id != 0)
        location->address += j->address;
    move_id(&location->mapping_id, j->mappings);
    for (size_t i = 0; i < location->n_line; i++)
        move_id(&location->line[i]->function_id, j->functions);
}

static void move_label(struct join *j, Perftools__Profiles__Label *label) {
    move_text(j, &label->key);
    move_text(j, &label->str);
    move_text(j, &label->num_unit);
}

/* The part keeps its own, but for the numbers in it. */
static Perftools__Profiles__Sample *widen(struct join *j, Perftools__Profiles__Sample *sample,
                                          size_t part) {
    Perftools__Profiles__Sample *wide = pool_alloc(&j->pool, sizeof *wide);
    size_t bytes = j->n * TYPES_EACH * sizeof *wide->value;
    *wide = *sample;
    wide->n_value = j->n * TYPES_EACH;
    wide->value = memset(pool_alloc(&j->pool, bytes), 0, bytes);
    memcpy(&wide->value[part * TYPES_EACH], sample->value, TYPES_EACH * sizeof *wide->value);
    for (size_t i = 0; i < sample->n_location_id; i++)
        move_id(&sample->location_id[i], j->locations);
    for (size_t i = 0; i < sample->n_label; i++)
        move_label(j, sample->label[i]);
    return wide;
}

static void add_comments(struct join *j, size_t part) {
    Perftools__Profiles__Profile *to = &j->message;
    struct comment_metric metric = {
        .period = j->part[part]->period > 0 ? (uint64_t)j->part[part]->period : 0};
    char *comment, *copy;
    snprintf(metric.type, sizeof metric.type, "%s", type_of(j->from));
    comment = comment_metric(&metric);
    copy = pool_alloc(&j->pool, strlen(comment) + 1);
    to->comment[to->n_comment++] = text_id(j, strcpy(copy, comment));
    free(comment);
    for (size_t i = 0; i < j->from->n_comment; i++) {
        int64_t number = j->from->comment[i];
        move_text(j, &number);
        to->comment[to->n_comment++] = number;
    }
}

/* Ids are numbers from 1 on, and addresses of mappings rise: those of a part end where this says.
 */
static void move_on(struct join *j, const Perftools__Profiles__Profile *part) {
    uint64_t limit = j->address;
    for (size_t i = 0; i < part->n_mapping; i++)
        if (part->mapping[i]->memory_limit > limit)
            limit = part->mapping[i]->memory_limit;
    j->mappings += part->n_mapping;
    j->locations += part->n_location;
    j->functions += part->n_function;
    j->address = limit - limit % PAGE + PAGE;
}

static void append(struct join *j, size_t number) {
    Perftools__Profiles__Profile *part = j->part[number], *to = &j->message;
    j->from = part;
    add_comments(j, number);
#define MOVE(list)                                                                                 \
    for (size_t i = 0; i < part->n_##list; i++) {                                                  \
        move_##list(j, part->list[i]);                                                             \
        to->list[to->n_##list++] = part->list[i];                                                  \
    }
    MOVE(sample_type)
    MOVE(mapping)
    MOVE(function)
    MOVE(location)
#undef MOVE
    for (size_t i = 0; i < part->n_sample; i++)
        to->sample[to->n_sample++] = widen(j, part->sample[i], number);
    move_on(j, part);
}

/* ---- the whole ---- */

static void make_room(struct join *j) {
    Perftools__Profiles__Profile *to = &j->message;
    size_t samples = 0, mappings = 0, locations = 0, functions = 0, comments = 0;
    for (size_t i = 0; i < j->n; i++) {
        samples += j->part[i]->n_sample;
        mappings += j->part[i]->n_mapping;
        locations += j->part[i]->n_location;
        functions += j->part[i]->n_function;
        comments += j->part[i]->n_comment + 1;
    }
    to->sample_type = pool_alloc(&j->pool, j->n * TYPES_EACH * sizeof *to->sample_type);
    to->sample = memory_new(samples + 1, sizeof *to->sample, "samples");
    to->mapping = memory_new(mappings + 1, sizeof *to->mapping, "modules");
    to->location = memory_new(locations + 1, sizeof *to->location, "locations");
    to->function = memory_new(functions + 1, sizeof *to->function, "functions");
    to->comment = pool_alloc(&j->pool, comments * sizeof *to->comment);
}

static bool write(struct join *j, FILE *out) {
    static char empty[] = "";
    Perftools__Profiles__Profile *to = &j->message;
    bool ok;
    perftools__profiles__profile__init(to);
    make_room(j);
    text_id(j, empty);
    for (size_t i = 0; i < j->n; i++)
        append(j, i);
    to->default_sample_type = to->sample_type[0]->type;
    to->time_nanos = j->part[0]->time_nanos;
    to->duration_nanos = j->part[0]->duration_nanos;
    to->period = j->part[0]->period;
    to->period_type = to->period > 0 ? to->sample_type[0] : NULL;
    ok = pprof_message_write(to, out);
    if (!ok)
        fail(j, strerror(errno));
    free(to->sample);
    free(to->mapping);
    free(to->location);
    free(to->function);
    free(to->string_table);
    return ok;
}

static bool write_as_it_is(struct join *j, const struct pprof_part *part, FILE *out) {
    return fwrite(part->data, 1, part->bytes, out) == part->bytes || fail(j, strerror(errno));
}

bool pprof_join(FILE *out, const struct pprof_part *parts, size_t n, char *error,
                size_t error_bytes) {
    struct join j = {.error = error, .error_bytes = error_bytes};
    bool ok = n > 0 && n <= PARTS_MAX;
    if (!ok)
        return fail(&j, "there are none, or too many");
    if (n == 1)
        return write_as_it_is(&j, parts, out);
    pprof_budget_init(&j.budget);
    for (size_t i = 0; i < n && ok; i++)
        ok = unpack(&j, &parts[i]) &&
             (is_ours(j.part[i]) || fail(&j, "it is no profile of one metric of ours"));
    ok = ok && (differ(&j) || fail(&j, "one metric is there twice")) && write(&j, out);
    for (size_t i = 0; i < j.n; i++)
        perftools__profiles__profile__free_unpacked(j.part[i], &j.budget.allocator);
    intern_free(&j.by_text);
    pool_free(&j.pool);
    return ok;
}
