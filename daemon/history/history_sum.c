/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_sum.c - for each process a table by context, in blocks that are there where something
 * was counted: contexts of one program were mostly met together, and so have numbers near to each
 * other.
 */
#include "daemon/history/history_sum.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/profile/merge.h"
#include "common/profile/profile_index.h"
#include "daemon/history/history_column.h"

#define BLOCK 64u /* contexts */

struct cell {
    uint64_t count, error;
    uint32_t trees;
    uint32_t node; /* of the profile; before there is one: 1, it will have one */
};

struct target {
    struct profile_process process;
    uint32_t trees;
    struct cell **blocks; /* NULL: nothing there */
};

struct history_sum {
    struct history_words *words;
    struct history_choice choice;
    struct profile *profile; /* of which there are the head, and strings of processes */
    struct target *targets;  /* from 1 on */
    uint32_t n, room, n_blocks;
    struct intern by_name;
    struct pool pool; /* blocks */
    uint64_t left;    /* what may still be added */
    bool any;
};

struct history_sum *history_sum_new(struct history_words *words,
                                    const struct history_choice *choice) {
    struct history_sum *sum = memory_new(1, sizeof *sum, "a sum of the past");
    sum->words = words;
    sum->choice = *choice;
    sum->profile = profile_new();
    sum->n = 1;
    sum->n_blocks = words->n_contexts / BLOCK + 1;
    sum->left = INT64_MAX;
    return sum;
}

void history_sum_free(struct history_sum *sum) {
    if (sum == NULL)
        return;
    profile_free(sum->profile);
    for (uint32_t i = 1; i < sum->n; i++)
        free(sum->targets[i].blocks);
    free(sum->targets);
    intern_free(&sum->by_name);
    pool_free(&sum->pool);
    free(sum);
}

/* ---- adding ---- */

static bool same_process(const void *entries, uint32_t i, const void *key) {
    return merge_are_alike(&((const struct history_sum *)entries)->targets[i].process, key);
}

/* Strings of words are equal when their addresses are. */
static uint64_t hash_of(const struct profile_process *process) {
    return seeded_hash(seeded_hash((uintptr_t)process->command, (uintptr_t)process->exe),
                       (uintptr_t)process->tags);
}

static struct target *find_target(struct history_sum *sum, const struct history_process *process) {
    uint32_t *slot =
        intern_find(&sum->by_name, hash_of(&process->fields), same_process, sum, &process->fields);
    if (*slot == 0) {
        sum->targets =
            memory_grow(sum->targets, sum->n, &sum->room, sizeof *sum->targets, "processes");
        sum->targets[sum->n] = (struct target){
            .process = process->fields,
            .blocks = memory_new(sum->n_blocks, sizeof(struct cell *), "a sum of the past")};
        *slot = sum->n++;
    } else {
        merge_add_process(sum->profile, &sum->targets[*slot].process, &process->fields);
    }
    return &sum->targets[*slot];
}

static struct cell *cell_of(struct history_sum *sum, struct target *target, uint32_t context) {
    struct cell **block = &target->blocks[context / BLOCK];
    if (*block == NULL)
        *block = pool_alloc(&sum->pool, BLOCK * sizeof **block);
    return *block + context % BLOCK;
}

static bool add_entries(struct history_sum *sum, struct target *target, uint32_t n,
                        const struct unpack *where) {
    struct history_entries it;
    struct history_entry entry;
    uint64_t weight = 0;
    history_entries_begin(&it, sum->words, where);
    for (; history_entries_next(&it, &entry); n--) {
        struct cell *cell = cell_of(sum, target, entry.context);
        cell->count += entry.count;
        cell->error += entry.error;
        cell->trees += entry.trees;
        weight += entry.count;
        if (entry.count > sum->left || weight > sum->left)
            return false;
    }
    sum->left -= weight;
    return n == 0;
}

struct chosen {
    struct history_process process;
    struct unpack entries;
};

/* Those that are asked for, and whether one of them has weight. */
static struct chosen *choose(const struct history_sum *sum, struct history_column *column,
                             uint32_t *n, bool *weighs) {
    struct chosen *chosen = NULL, next;
    uint32_t room = 0;
    *n = 0;
    *weighs = false;
    for (uint32_t i = 0; i < column->n_processes && !column->in.bad; i++) {
        history_column_process(column, &next.process, &next.entries);
        if (sum->choice.wants != NULL && !sum->choice.wants(sum->choice.arg, &next.process.fields))
            continue;
        chosen = memory_grow(chosen, *n, &room, sizeof *chosen, "processes");
        chosen[(*n)++] = next;
        *weighs |= next.process.fields.total > 0;
    }
    return chosen;
}

bool history_sum_add(struct history_sum *sum, const uint8_t *data, size_t bytes) {
    struct history_column column;
    uint32_t n;
    bool weighs, ok;
    history_column_begin(&column, sum->words, data, bytes);
    struct chosen *chosen = choose(sum, &column, &n, &weighs);
    ok = !column.in.bad;
    if (ok && weighs)
        merge_header(sum->profile, &column.head, !sum->any);
    sum->any |= ok && weighs;
    for (uint32_t i = 0; i < n && ok && weighs; i++) {
        struct target *target = find_target(sum, &chosen[i].process);
        target->trees += chosen[i].process.trees;
        ok = add_entries(sum, target, chosen[i].process.n, &chosen[i].entries);
    }
    free(chosen);
    return ok;
}

/* ---- the profile ---- */

struct making {
    struct history_sum *sum;
    struct profile *profile;
    uint32_t *function, *module, *location; /* of the profile, by the words'; 0: not there yet */
    uint32_t *trees;
    uint32_t trees_room;
};

static uint32_t function_of(struct making *m, uint32_t number) {
    const struct profile_function *function = &m->sum->words->functions[number];
    if (m->function[number] == 0)
        m->function[number] =
            profile_add_function(m->profile, function->name, function->system_name, function->file,
                                 function->start_line);
    return m->function[number];
}

static uint32_t module_of(struct making *m, uint32_t number) {
    const struct profile_module *module = &m->sum->words->modules[number];
    if (number == 0 || m->module[number] != 0)
        return m->module[number];
    uint32_t copy = profile_add_module(m->profile, module->path, module->build_id);
    m->profile->modules[copy].start = module->start;
    m->profile->modules[copy].limit = module->limit;
    m->module[number] = copy;
    return copy;
}

static uint32_t location_of(struct making *m, uint32_t number) {
    if (m->location[number] != 0)
        return m->location[number];
    struct profile_location place = m->sum->words->locations[number];
    struct profile_line *lines = memory_new((size_t)place.n_lines + 1, sizeof *lines, "a location");
    for (uint32_t k = 0; k < place.n_lines; k++) {
        lines[k].function = function_of(m, place.lines[k].function);
        lines[k].line = place.lines[k].line;
    }
    place.module = module_of(m, place.module);
    place.lines = lines;
    m->location[number] = profile_intern_location(m->profile, &place);
    free(lines);
    return m->location[number];
}

static void note_trees(struct making *m, uint32_t node, uint32_t trees) {
    while (node >= m->trees_room)
        m->trees =
            memory_grow(m->trees, m->trees_room, &m->trees_room, sizeof *m->trees, "contexts");
    m->trees[node] = trees;
}

/* Callers of contexts that have a cell have one too. */
static void mark_callers(struct history_sum *sum, struct target *target) {
    const struct history_context *contexts = sum->words->contexts;
    for (uint32_t b = sum->n_blocks; b-- > 0;) {
        struct cell *block = target->blocks[b];
        for (uint32_t i = BLOCK; block != NULL && i-- > 0;) {
            if (block[i].count == 0 && block[i].error == 0 && block[i].node == 0)
                continue;
            block[i].node = 1;
            uint32_t parent = contexts[b * BLOCK + i].parent;
            if (parent != 0)
                cell_of(sum, target, parent)->node = 1;
        }
    }
}

static void make_nodes(struct making *m, struct target *target) {
    struct history_sum *sum = m->sum;
    uint32_t number = profile_add_process(m->profile, &target->process);
    uint32_t root = profile_root(m->profile, number);
    note_trees(m, root, target->trees);
    mark_callers(sum, target);
    for (uint32_t b = 0; b < sum->n_blocks; b++) {
        struct cell *block = target->blocks[b];
        for (uint32_t i = 0; block != NULL && i < BLOCK; i++) {
            if (block[i].node == 0)
                continue;
            const struct history_context *context = &sum->words->contexts[b * BLOCK + i];
            const struct cell *above =
                context->parent != 0 ? cell_of(sum, target, context->parent) : NULL;
            block[i].node = profile_append_node(
                m->profile, &(struct profile_node){.parent = above != NULL ? above->node : root,
                                                   .location = location_of(m, context->location),
                                                   .process = number,
                                                   .count = block[i].count,
                                                   .error = block[i].error,
                                                   .counter_error = block[i].error});
            note_trees(m, block[i].node, block[i].trees);
        }
    }
}

struct profile *history_sum_profile(struct history_sum *sum, uint32_t **trees) {
    struct making m = {.sum = sum, .profile = sum->profile};
    if (!sum->any)
        return NULL;
    note_trees(&m, 0, 0);
    m.function = memory_new(sum->words->n_functions, sizeof *m.function, "functions");
    m.module = memory_new(sum->words->n_modules, sizeof *m.module, "modules");
    m.location = memory_new(sum->words->n_locations, sizeof *m.location, "locations");
    for (uint32_t i = 1; i < sum->n; i++)
        make_nodes(&m, &sum->targets[i]);
    free(m.function);
    free(m.module);
    free(m.location);
    *trees = m.trees;
    sum->profile = NULL;
    return m.profile;
}
