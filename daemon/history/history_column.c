/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_column.c - a head, then process by process: its fields that are not 0, by name, and its
 * entries, each of their numbers in a list of its own, as like compresses best beside like.
 */
#include "daemon/history/history_column.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/process_fields.h"

#define LISTS 4 /* contexts, counts, errors, trees */

/* ---- writing ---- */

static void put_effects(const struct profile *profile, const uint32_t *locations, FILE *out) {
    uint64_t n = 0;
    for (uint32_t i = 1; i < profile->n_locations; i++)
        n += profile->locations[i].effect > 0 || profile->locations[i].self_effect > 0;
    pack_number(out, n);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        if (place->effect <= 0 && place->self_effect <= 0)
            continue;
        pack_number(out, locations[i]);
        fwrite(&place->effect, sizeof place->effect, 1, out);
        fwrite(&place->self_effect, sizeof place->self_effect, 1, out);
    }
}

/* Fields have numbers in a column: another build may have others. */
static void put_names(struct history_known *known, FILE *out) {
    uint64_t n = 0;
    while (process_fields[n].name != NULL)
        n++;
    pack_number(out, n);
    for (uint64_t i = 0; i < n; i++)
        pack_number(out, history_known_string(known, process_fields[i].name));
}

static void put_head(struct history_known *known, const struct profile *profile,
                     const uint32_t *locations, FILE *out) {
    const char *const texts[] = {profile->type, profile->unit, profile->summary, profile->title,
                                 profile->others};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        pack_number(out, history_known_string(known, texts[i]));
    pack_double(out, profile->phi);
    pack_double(out, profile->epsilon);
    pack_number(out, profile->period);
    pack_number(out, profile->time_ns);
    pack_number(out, profile->duration_ns);
    pack_number(out, profile->window_ns);
    pack_number(out, profile->kernel_ns);
    pack_number(out, profile->is_past);
    pack_number(out, profile->n_modules - 1);
    for (uint32_t i = 1; i < profile->n_modules; i++) {
        const struct profile_module *module = &profile->modules[i];
        pack_number(out, profile_add_module(known->profile, module->path, module->build_id));
        pack_number(out, module->start);
        pack_number(out, module->limit);
    }
    put_effects(profile, locations, out);
    put_names(known, out);
    pack_number(out, profile->n_processes - 1);
}

static uint64_t value_of(struct history_known *known, const struct profile_process *process,
                         const struct process_field *field) {
    if (field->kind == FIELD_STRING)
        return history_known_string(known, process_field_string(process, field));
    return process_field_number(process, field);
}

static void put_fields(struct history_known *known, const struct profile_process *process,
                       FILE *out) {
    uint64_t n = 0;
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        n += value_of(known, process, field) != 0;
    pack_number(out, n);
    for (const struct process_field *field = process_fields; field->name != NULL; field++) {
        uint64_t value = value_of(known, process, field);
        if (value == 0)
            continue;
        pack_number(out, (uint64_t)(field - process_fields));
        pack_number(out, value);
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void put_entries(const struct history_entry *entries, size_t n, bool trees, FILE *out) {
    uint64_t unit = 0;
    uint32_t last = 0;
    size_t bytes[LISTS];
    char *text[LISTS];
    FILE *list[LISTS];
    for (size_t i = 0; i < n; i++)
        unit = common_divisor(entries[i].error, common_divisor(entries[i].count, unit));
    for (int k = 0; k < LISTS; k++)
        list[k] = memory_stream("the past");
    for (size_t i = 0; i < n; i++) {
        const struct history_entry *entry = &entries[i];
        pack_number(list[0], entry->context - last);
        pack_number(list[1], entry->count / unit * 2 + (entry->error > 0));
        if (entry->error > 0)
            pack_number(list[2], entry->error / unit);
        if (trees)
            pack_number(list[3], entry->trees);
        last = entry->context;
    }
    for (int k = LISTS - 1; k >= 0; k--)
        text[k] = memory_stream_end(list[k], &bytes[k], "the past");
    uint64_t all = 0;
    for (int k = 0; k < LISTS; k++)
        all += bytes[k];
    pack_number(out, n);
    pack_number(out, unit);
    for (int k = 0; k < LISTS - 1; k++)
        pack_number(out, bytes[k]);
    pack_number(out, all);
    for (int k = 0; k < LISTS; k++) {
        fwrite(text[k], 1, bytes[k], out);
        free(text[k]);
    }
}

static int by_context(const void *a, const void *b) {
    const struct history_entry *x = a, *y = b;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Entries of all processes, one process after the other; those of i are [first[i], first[i + 1]).
 */
static struct history_entry *list_entries(const struct profile *profile, const uint32_t *trees,
                                          const uint32_t *contexts, uint32_t *first) {
    struct history_entry *list = memory_new(profile->n_nodes, sizeof *list, "contexts");
    uint32_t *fill = memory_new((size_t)profile->n_processes + 1, sizeof *fill, "processes");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count > 0 || profile->nodes[i].error > 0)
            first[profile->nodes[i].process + 1]++;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        first[i + 1] += first[i];
    memcpy(fill, first, (size_t)profile->n_processes * sizeof *fill);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->count > 0 || node->error > 0)
            list[fill[node->process]++] = (struct history_entry){
                contexts[i], trees != NULL ? trees[i] : 1, node->count, node->error};
    }
    free(fill);
    return list;
}

void history_column_write(struct history_known *known, const struct profile *profile,
                          const uint32_t *trees, FILE *out) {
    uint32_t *locations = history_known_locations(known, profile);
    uint32_t *contexts = history_known_contexts(known, profile, locations);
    uint32_t *first = memory_new((size_t)profile->n_processes + 2, sizeof *first, "processes");
    struct history_entry *entries = list_entries(profile, trees, contexts, first);
    put_head(known, profile, locations, out);
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        struct history_entry *own = entries + first[i];
        size_t n = first[i + 1] - first[i];
        qsort(own, n, sizeof *own, by_context);
        put_fields(known, &profile->processes[i], out);
        pack_number(out, trees != NULL ? trees[profile_root(profile, i)] : 1);
        put_entries(own, n, trees != NULL, out);
    }
    free(locations);
    free(contexts);
    free(first);
    free(entries);
}

/* ---- reading ---- */

static const char *read_string(const struct history_words *words, struct unpack *in) {
    return words->strings[unpack_below(in, words->n_strings)];
}

static float read_effect(struct unpack *in) {
    float effect = 0;
    const void *at = unpack_bytes(in, sizeof effect);
    if (at != NULL)
        memcpy(&effect, at, sizeof effect);
    return effect;
}

static void read_effects(struct history_words *words, struct unpack *in) {
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        struct profile_location *place = &words->locations[unpack_below(in, words->n_locations)];
        float effect = read_effect(in), self_effect = read_effect(in);
        place->effect = effect > place->effect ? effect : place->effect;
        place->self_effect = self_effect > place->self_effect ? self_effect : place->self_effect;
    }
}

static void read_head(struct history_words *words, struct unpack *in, struct profile *head) {
    *head = (struct profile){.marks = ""};
    head->type = read_string(words, in);
    head->unit = read_string(words, in);
    head->summary = read_string(words, in);
    head->title = read_string(words, in);
    head->others = read_string(words, in);
    head->phi = unpack_double(in);
    head->epsilon = unpack_double(in);
    head->period = unpack_number(in);
    head->time_ns = unpack_number(in);
    head->duration_ns = unpack_number(in);
    head->window_ns = unpack_number(in);
    head->kernel_ns = unpack_number(in);
    head->is_past = unpack_number(in) != 0;
}

void history_column_begin(struct history_column *column, struct history_words *words,
                          const uint8_t *data, size_t bytes) {
    struct unpack *in = &column->in;
    *column = (struct history_column){.words = words, .in = {data, data + bytes, false}};
    read_head(words, in, &column->head);
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--) {
        struct profile_module *module = &words->modules[unpack_below(in, words->n_modules)];
        module->start = unpack_number(in);
        module->limit = unpack_number(in);
    }
    read_effects(words, in);
    column->n_fields = unpack_below(in, HISTORY_FIELDS_MAX + 1);
    for (uint32_t i = 0; i < column->n_fields; i++)
        column->fields[i] = process_field_find(read_string(words, in));
    column->n_processes = (uint32_t)unpack_number(in);
}

/* A field that is not known any more is left out; none has become another kind. */
static void read_field(struct history_column *column, struct profile_process *process) {
    uint32_t number = unpack_below(&column->in, column->n_fields);
    const struct process_field *field = column->n_fields > 0 ? column->fields[number] : NULL;
    uint64_t value = unpack_number(&column->in);
    if (field == NULL)
        return;
    if (field->kind != FIELD_STRING)
        process_field_set_number(process, field, value);
    else if (value < column->words->n_strings)
        process_field_set_string(process, field, column->words->strings[value]);
    else
        column->in.bad = true;
}

void history_column_process(struct history_column *column, struct history_process *process,
                            struct unpack *entries) {
    struct unpack *in = &column->in;
    *process = (struct history_process){.fields = {.exe = "",
                                                   .command = "",
                                                   .tags = "",
                                                   .clock = "",
                                                   .collector = "",
                                                   .credit = "",
                                                   .call_modules = ""}};
    for (uint64_t n = unpack_number(in); n > 0 && !in->bad; n--)
        read_field(column, &process->fields);
    process->trees = (uint32_t)unpack_number(in);
    process->n = (uint32_t)unpack_number(in);
    entries->at = in->at;
    for (int k = 0; k < LISTS; k++) /* the unit, and all lists but one */
        unpack_number(in);
    unpack_bytes(in, unpack_number(in));
    entries->end = in->at;
    entries->bad = in->bad;
}

static struct unpack read_list(struct unpack *in, uint64_t bytes) {
    const uint8_t *at = unpack_bytes(in, bytes);
    return (struct unpack){at, at != NULL ? at + bytes : NULL, false};
}

void history_entries_begin(struct history_entries *it, const struct history_words *words,
                           const struct unpack *entries) {
    struct unpack in = *entries;
    uint64_t bytes[LISTS - 1], all;
    it->unit = unpack_number(&in);
    it->limit = words->n_contexts;
    it->context = 0;
    for (int k = 0; k < LISTS - 1; k++)
        bytes[k] = unpack_number(&in);
    all = unpack_number(&in);
    it->contexts = read_list(&in, bytes[0]);
    it->counts = read_list(&in, bytes[1]);
    it->errors = read_list(&in, bytes[2]);
    it->trees = read_list(&in, in.bad ? 0 : (uint64_t)(in.end - in.at));
    if (in.bad || all > (uint64_t)(entries->end - entries->at))
        it->contexts.at = it->contexts.end = NULL;
}
