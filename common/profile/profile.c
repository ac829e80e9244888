/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile.c - the tables of the neutral profile; equal entries are found again by hash.
 */
#include "common/profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/base/intern.h"
#include "common/profile/profile_index.h"

struct profile *profile_new(void) {
    struct profile *profile = memory_new(1, sizeof *profile, "a profile");
    struct profile_index *index = memory_new(1, sizeof *index, "a profile");

    profile->index = index;
#define FIRST(array, n, room)                                                                      \
    do {                                                                                           \
        (array) = memory_grow(NULL, 0, &(room), sizeof(*(array)), "a profile");                    \
        memset((array), 0, sizeof(*(array)));                                                      \
        (n) = 1;                                                                                   \
    } while (0)
    FIRST(index->strings, index->n_strings, index->string_room);
    FIRST(profile->modules, profile->n_modules, index->module_room);
    FIRST(profile->functions, profile->n_functions, index->function_room);
    FIRST(profile->locations, profile->n_locations, index->location_room);
    FIRST(profile->nodes, profile->n_nodes, index->node_room);
    FIRST(profile->processes, profile->n_processes, index->process_room);
#undef FIRST
    index->roots = memory_grow(NULL, 0, &index->root_room, sizeof *index->roots, "a profile");
    index->roots[0] = 0;
    index->strings[0] = "";
    profile->type = profile->unit = profile->summary = profile->title = profile->others =
        profile->marks = "";
    profile->modules[0] = (struct profile_module){.path = "", .build_id = ""};
    profile->functions[0] = (struct profile_function){.name = "", .system_name = "", .file = ""};
    profile->processes[0] = (struct profile_process){.exe = "",
                                                     .command = "",
                                                     .tags = "",
                                                     .clock = "",
                                                     .collector = "",
                                                     .credit = "",
                                                     .call_modules = ""};
    return profile;
}

void profile_free(struct profile *profile) {
    struct profile_index *index;
    if (profile == NULL)
        return;
    index = profile->index;
    intern_free(&index->by_text);
    intern_free(&index->by_module);
    intern_free(&index->by_function);
    intern_free(&index->by_address);
    intern_free(&index->by_lines);
    intern_free(&index->by_child);
    pool_free(&index->pool);
    free(index->strings);
    free(index->roots);
    free(index);
    free(profile->modules);
    free(profile->functions);
    free(profile->locations);
    free(profile->nodes);
    free(profile->processes);
    free(profile->flat);
    free(profile->numbers);
    free(profile);
}

/* ---- strings ---- */

static bool same_text(const void *entries, uint32_t i, const void *key) {
    const struct profile_index *index = entries;
    return strcmp(index->strings[i], key) == 0;
}

uint32_t profile_string_number(struct profile *profile, const char *text) {
    struct profile_index *index = profile->index;
    char *repaired = NULL;
    uint32_t *slot, number;
    size_t length;
    if (text == NULL || *text == '\0')
        return 0;
    length = strlen(text);
    number =
        intern_get(&index->by_text, seeded_hash_bytes(0, text, length), same_text, index, text);
    if (number != 0) /* it has been looked through */
        return number;
    if (!utf8_is_valid(text, length)) {
        repaired = memory_new(length + 1, 3, "a name");
        utf8_repair(repaired, text);
        text = repaired;
        length = strlen(text);
    }
    slot = intern_find(&index->by_text, seeded_hash_bytes(0, text, length), same_text, index, text);
    if (*slot == 0) {
        char *copy = pool_alloc(&index->pool, length + 1);
        memcpy(copy, text, length + 1);
        index->strings = memory_grow(index->strings, index->n_strings, &index->string_room,
                                     sizeof *index->strings, "names");
        index->strings[index->n_strings] = copy;
        *slot = index->n_strings++;
    }
    number = *slot;
    free(repaired);
    return number;
}

const char *profile_string(struct profile *profile, const char *text) {
    uint32_t number = profile_string_number(profile, text); /* may move the table */

    return profile->index->strings[number];
}

const char *profile_word(struct profile *profile, const char *text) {
    char *clean = memory_new(strlen(text) + 1, 1, "a name");
    const char *word;
    strcpy(clean, text);
    utf8_clean(clean);
    word = profile_string(profile, clean);
    free(clean);
    return word;
}

/* ---- modules and functions: their strings are one pointer each by now ---- */

static uint64_t hash_pointer(uint64_t hash, const void *pointer) {
    return seeded_hash(hash, (uint64_t)(uintptr_t)pointer);
}

static bool same_module(const void *entries, uint32_t i, const void *key) {
    const struct profile_module *have = &((const struct profile *)entries)->modules[i];
    const struct profile_module *want = key;
    return have->path == want->path && have->build_id == want->build_id;
}

uint32_t profile_add_module(struct profile *profile, const char *path, const char *build_id) {
    struct profile_index *index = profile->index;
    struct profile_module module = {.path = profile_string(profile, path),
                                    .build_id = profile_string(profile, build_id)};
    uint64_t hash = hash_pointer(hash_pointer(0, module.path), module.build_id);
    uint32_t *slot = intern_find(&index->by_module, hash, same_module, profile, &module);
    if (*slot == 0) {
        profile->modules = memory_grow(profile->modules, profile->n_modules, &index->module_room,
                                       sizeof module, "modules");
        profile->modules[profile->n_modules] = module;
        *slot = profile->n_modules++;
    }
    return *slot;
}

static bool same_function(const void *entries, uint32_t i, const void *key) {
    const struct profile_function *have = &((const struct profile *)entries)->functions[i];
    const struct profile_function *want = key;
    return have->name == want->name && have->system_name == want->system_name &&
           have->file == want->file && have->start_line == want->start_line;
}

uint32_t profile_add_function(struct profile *profile, const char *name, const char *system_name,
                              const char *file, uint32_t start_line) {
    struct profile_index *index = profile->index;
    struct profile_function function = {.name = profile_string(profile, name),
                                        .system_name = profile_string(profile, system_name),
                                        .file = profile_string(profile, file),
                                        .start_line = start_line};
    uint64_t hash = hash_pointer(hash_pointer(start_line, function.name), function.system_name);
    uint32_t *slot = intern_find(&index->by_function, hash_pointer(hash, function.file),
                                 same_function, profile, &function);
    if (*slot == 0) {
        profile->functions = memory_grow(profile->functions, profile->n_functions,
                                         &index->function_room, sizeof function, "functions");
        profile->functions[profile->n_functions] = function;
        *slot = profile->n_functions++;
    }
    return *slot;
}

/* ---- locations ---- */

static bool same_address(const void *entries, uint32_t i, const void *key) {
    const struct profile_location *have = &((const struct profile *)entries)->locations[i];
    const struct profile_location *want = key;
    return have->module == want->module && have->address == want->address &&
           have->is_entry == want->is_entry && have->routine == want->routine;
}

static bool same_lines(const void *entries, uint32_t i, const void *key) {
    const struct profile_location *have = &((const struct profile *)entries)->locations[i];
    const struct profile_location *want = key;
    if (!same_address(entries, i, key) || have->n_lines != want->n_lines)
        return false;
    for (uint32_t k = 0; k < have->n_lines; k++)
        if (have->lines[k].function != want->lines[k].function ||
            have->lines[k].line != want->lines[k].line)
            return false;
    return true;
}

static uint64_t hash_address(const struct profile_location *location) {
    return seeded_hash(seeded_hash(location->is_entry, location->module), location->address);
}

static uint32_t append_location(struct profile *profile, const struct profile_location *location) {
    struct profile_index *index = profile->index;
    profile->locations = memory_grow(profile->locations, profile->n_locations,
                                     &index->location_room, sizeof *location, "locations");
    profile->locations[profile->n_locations] = *location;
    return profile->n_locations++;
}

uint32_t profile_add_location(struct profile *profile, uint32_t module, uint64_t address,
                              bool is_entry) {
    struct profile_location location = {.module = module, .address = address, .is_entry = is_entry};
    uint32_t *slot = intern_find(&profile->index->by_address, hash_address(&location), same_address,
                                 profile, &location);
    if (*slot == 0)
        *slot = append_location(profile, &location);
    return *slot;
}

uint32_t profile_intern_location(struct profile *profile, const struct profile_location *like) {
    uint64_t hash = hash_address(like);
    uint32_t *slot;
    for (uint32_t k = 0; k < like->n_lines; k++)
        hash = seeded_hash(seeded_hash(hash, like->lines[k].function), like->lines[k].line);
    slot = intern_find(&profile->index->by_lines, hash, same_lines, profile, like);
    if (*slot == 0) {
        struct profile_location location = *like;
        location.n_lines = 0;
        *slot = append_location(profile, &location);
        profile_set_lines(profile, *slot, like->lines, like->n_lines);
    } else {
        profile_set_effects(profile, *slot, like->effect, like->self_effect);
    }
    return *slot;
}

void profile_set_effects(struct profile *profile, uint32_t location, float effect,
                         float self_effect) {
    struct profile_location *it = &profile->locations[location];
    it->effect = effect > it->effect ? effect : it->effect;
    it->self_effect = self_effect > it->self_effect ? self_effect : it->self_effect;
}

uint32_t profile_add_pseudo(struct profile *profile, const char *name) {
    struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
    struct profile_location location = {.is_entry = true, .n_lines = 1, .lines = &line};
    return profile_intern_location(profile, &location);
}

void profile_set_lines(struct profile *profile, uint32_t location, const struct profile_line *lines,
                       uint32_t n) {
    struct profile_line *copy = NULL;
    if (n > 0) {
        copy = pool_alloc(&profile->index->pool, n * sizeof *copy);
        memcpy(copy, lines, n * sizeof *copy);
    }
    profile->locations[location].lines = copy;
    profile->locations[location].n_lines = n;
}

/* ---- processes and nodes ---- */

uint32_t profile_append_node(struct profile *profile, const struct profile_node *node) {
    profile->nodes = memory_grow(profile->nodes, profile->n_nodes, &profile->index->node_room,
                                 sizeof *node, "contexts");
    profile->nodes[profile->n_nodes] = *node;
    return profile->n_nodes++;
}

void profile_reserve_nodes(struct profile *profile, uint32_t n) {
    struct profile_index *index = profile->index;
    intern_reserve(&index->by_child, index->by_child.used + n);
    profile->nodes = memory_reserve(profile->nodes, profile->n_nodes, &index->node_room,
                                    sizeof *profile->nodes, n, "contexts");
}

uint32_t profile_add_process(struct profile *profile, const struct profile_process *process) {
    struct profile_index *index = profile->index;
    uint32_t number = profile->n_processes;
    struct profile_process copy = *process;
    copy.exe = profile_string(profile, process->exe);
    copy.command = profile_string(profile, process->command);
    copy.tags = profile_string(profile, process->tags);
    copy.clock = profile_string(profile, process->clock);
    copy.collector = profile_string(profile, process->collector);
    copy.credit = profile_string(profile, process->credit);
    copy.call_modules = profile_string(profile, process->call_modules);
    profile->processes =
        memory_grow(profile->processes, number, &index->process_room, sizeof copy, "processes");
    profile->processes[number] = copy;
    index->roots =
        memory_grow(index->roots, number, &index->root_room, sizeof *index->roots, "processes");
    index->roots[number] = profile_append_node(profile, &(struct profile_node){.process = number});
    return profile->n_processes++;
}

uint32_t profile_root(const struct profile *profile, uint32_t process) {
    return profile->index->roots[process];
}

static bool same_child(const void *entries, uint32_t i, const void *key) {
    const struct profile_node *have = &((const struct profile *)entries)->nodes[i];
    const struct profile_node *want = key;
    return have->parent == want->parent && have->location == want->location;
}

uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t location,
                          uint64_t count, uint64_t error) {
    struct profile_node node = {
        .parent = parent, .location = location, .process = profile->nodes[parent].process};
    uint32_t *slot = intern_find(&profile->index->by_child, seeded_hash(parent, location),
                                 same_child, profile, &node);
    if (*slot == 0)
        *slot = profile_append_node(profile, &node);
    profile->nodes[*slot].count += count;
    profile->nodes[*slot].error += error;
    profile->nodes[*slot].counter_error += error;
    return *slot;
}

uint64_t profile_total(const struct profile *profile) {
    uint64_t total = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        total += profile->nodes[i].count;
    return total;
}

bool profile_of_blocks(const struct profile *profile) {
    return strncmp(profile->type, "alloc_", 6) == 0 || strncmp(profile->type, "inuse_", 6) == 0;
}

bool profile_of_heap(const struct profile *profile) {
    return strncmp(profile->type, "inuse_", 6) == 0;
}

bool profile_of_locks(const struct profile *profile) {
    return strcmp(profile->type, "delay") == 0 || strcmp(profile->type, "contentions") == 0 ||
           strcmp(profile->type, "held_delay") == 0;
}

bool profile_of_calls(const struct profile *profile) {
    return strcmp(profile->type, "calls") == 0 && strcmp(profile->unit, "count") == 0;
}

bool profile_of_faults(const struct profile *profile) {
    return strcmp(profile->type, "faults") == 0 && strcmp(profile->unit, "count") == 0;
}

double profile_scale(const struct profile_process *process) {
    if (strcmp(process->collector, "calls") != 0 || process->burst_period_ns == 0 ||
        process->seen_ns == 0 || process->seen_ns > process->cpu_burst_ns)
        return 1;
    /* profiles of earlier times have calls as they were seen */
    uint64_t stands_ns = process->stands_ns != 0 ? process->stands_ns : process->seen_ns;
    return (double)process->cpu_burst_ns / (double)stands_ns;
}

uint64_t profile_lost(const struct profile *profile, const struct profile_process *process) {
    if (profile_of_calls(profile))
        return process->lost * (process->every > 1 ? process->every : 1);
    if (profile_of_faults(profile)) /* what is known of it is time */
        return 0;
    if (profile_of_heap(profile)) /* what is there of it is in PROFILE_PRUNED frames */
        return 0;
    bool gaps = strcmp(profile->type, "cpu") == 0;
    return process->lost_ns + (gaps ? process->gap_ns + process->gap_children_ns : 0);
}

uint64_t profile_lost_elsewhere(const struct profile *profile,
                                const struct profile_process *process) {
    return strcmp(profile->type, "cpu") == 0 ? process->gap_children_ns : 0;
}

bool profile_is_sample(const struct profile_process *process) {
    return strcmp(process->collector, "walks") == 0 || process->burst_period_ns > 0 ||
           process->every > 1;
}

/* ---- names ---- */

const char *profile_process_name(const struct profile_process *process) {
    return *process->command != '\0' ? process->command : profile_basename(process->exe);
}

const char *profile_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

bool profile_is_pseudo(const struct profile_location *location) {
    return location->module == 0 && location->address == 0 && location->is_entry &&
           location->n_lines == 1;
}

static bool is_called(const struct profile *profile, uint32_t location, const char *name) {
    const struct profile_location *place = &profile->locations[location];
    return place->module == 0 && place->n_lines == 1 &&
           strcmp(profile->functions[place->lines[0].function].name, name) == 0;
}

bool profile_is_pruned(const struct profile *profile, uint32_t location) {
    return is_called(profile, location, PROFILE_PRUNED);
}

bool profile_is_agent(const struct profile *profile, uint32_t location) {
    return is_called(profile, location, PROFILE_AGENT);
}

bool *profile_find_hidden(const struct profile *profile) {
    bool *pruned = memory_new(profile->n_locations, sizeof *pruned, "locations");
    bool *hidden = memory_new(profile->n_nodes, sizeof *hidden, "contexts");
    for (uint32_t i = 1; i < profile->n_locations; i++)
        pruned[i] = profile_is_pruned(profile, i);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        hidden[i] = hidden[profile->nodes[i].parent] || pruned[profile->nodes[i].location];
    free(pruned);
    return hidden;
}

const char *profile_place_name(struct profile *names, const struct profile *profile,
                               const struct profile_location *location) {
    const char *module = profile_basename(profile->modules[location->module].path);
    size_t bytes = strlen(module) + 32;
    char *name = memory_new(1, bytes, "a name");
    const char *kept;
    snprintf(name, bytes, "%s%s0x%" PRIx64, module, *module != '\0' ? "+" : "",
             location->routine != 0 ? location->routine : location->address);
    kept = profile_string(names, name);
    free(name);
    return kept;
}

bool profile_is_place_name(const char *name) {
    const char *plus = strrchr(name, '+');
    const char *number = plus != NULL ? plus + 1 : name;
    return strncmp(number, "0x", 2) == 0 && number[2] != '\0' &&
           number[2 + strspn(number + 2, "0123456789abcdef")] == '\0';
}
