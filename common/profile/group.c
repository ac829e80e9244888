/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * group.c - contexts grouped by function, site, line, module, thread or label.
 *
 * Each location becomes a path of frames, outermost first (inlined functions are frames of their
 * own), and each frame one location of the new profile; nodes follow by their paths.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/copy.h"
#include "common/base/intern.h"
#include "common/profile/profile.h"
#include "common/profile/profile_index.h"
#include "common/wire/compiler.h"

#define NO_MODULE "[no module]"
#define NO_THREAD "[thread not recorded: see --threads]"
#define NO_LABEL  "[no label]"

static const char *const by_words[] = {
    [PROFILE_BY_FUNCTION] = "function", [PROFILE_BY_SITE] = "site",
    [PROFILE_BY_LINE] = "line",         [PROFILE_BY_MODULE] = "module",
    [PROFILE_BY_THREAD] = "thread",     [PROFILE_BY_LABEL] = "label",
};

const char *profile_by_word(enum profile_by by) {
    return by_words[by];
}

bool profile_by_parse(const char *word, enum profile_by *by) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(by_words); i++) {
        if (strcmp(word, by_words[i]) == 0) {
            *by = (enum profile_by)i;
            return true;
        }
    }
    return false;
}

/* One function for all that have its name in a module; `file` is NULL where files don't matter. */
struct naming {
    uint32_t module;         /* of `from` */
    const char *name, *file; /* of `to`'s strings */
    uint32_t best;           /* function of `from` that says most */
    uint32_t copy;           /* of that in `to`, 0: not there yet */
};

struct grouping {
    const struct profile *from;
    struct profile *to;
    enum profile_by by;
    struct intern by_name;
    struct naming *namings;
    uint32_t n_namings, naming_room;
    uint32_t *naming_of; /* function of `from` -> the naming that it had last, 0: none yet */
    uint32_t *module_of; /* module of `from` -> that of `to`, 0: not there yet */
    /* frames of from->locations[i]: frame[first[i] .. first[i+1]), outermost first */
    uint32_t *frame;
    uint32_t n_frames, frame_room;
    uint32_t *first;
};

static bool same_naming(const void *entries, uint32_t i, const void *key) {
    const struct naming *have = &((const struct grouping *)entries)->namings[i];
    const struct naming *want = key;
    return have->module == want->module && have->name == want->name && have->file == want->file;
}

static uint32_t intern_naming(struct grouping *g, uint32_t module, uint32_t function) {
    const struct profile_function *it = &g->from->functions[function];
    struct naming naming = {
        .module = module, .name = profile_string(g->to, it->name), .best = function};
    uint64_t hash = seeded_hash(module, (uintptr_t)naming.name);
    uint32_t *slot;
    if (g->by != PROFILE_BY_FUNCTION)
        naming.file = profile_string(g->to, it->file);
    slot = intern_find(&g->by_name, seeded_hash(hash, (uintptr_t)naming.file), same_naming, g,
                       &naming);
    if (*slot == 0) {
        g->namings =
            memory_grow(g->namings, g->n_namings, &g->naming_room, sizeof naming, "functions");
        g->namings[g->n_namings] = naming;
        *slot = g->n_namings++;
    }
    return *slot;
}

/* A function is in one module nearly always, and at many places of it. */
static struct naming *find_naming(struct grouping *g, uint32_t module, uint32_t function) {
    uint32_t *last = &g->naming_of[function];
    if (*last == 0 || g->namings[*last].module != module)
        *last = intern_naming(g, module, function);
    return &g->namings[*last];
}

/* The symbol table knows a function's name, debug information its file as well: by name both are
 * one, and the file that one of them knows is good for all. */
static void make_namings(struct grouping *g) {
    const struct profile *from = g->from;
    for (uint32_t i = 1; i < from->n_locations; i++) {
        const struct profile_location *place = &from->locations[i];
        for (uint32_t k = 0; k < place->n_lines; k++) {
            uint32_t function = place->lines[k].function;
            struct naming *naming = find_naming(g, place->module, function);
            if (*from->functions[naming->best].file == '\0')
                naming->best = function;
        }
    }
}

static uint32_t module_frame(struct grouping *g, uint32_t module) {
    const char *name = profile_basename(g->to->modules[module].path);
    struct profile_line line;
    struct profile_location frame = {.module = module, .is_entry = true, .n_lines = 1};
    if (module == 0)
        return profile_add_pseudo(g->to, NO_MODULE);
    line = (struct profile_line){.function = profile_add_function(g->to, name, name, "", 0)};
    frame.lines = &line;
    return profile_intern_location(g->to, &frame);
}

static uint32_t module_copy(struct grouping *g, uint32_t module) {
    if (g->module_of[module] == 0)
        g->module_of[module] = copy_module(g->to, g->from, module);
    return g->module_of[module];
}

static uint32_t function_copy(struct grouping *g, struct naming *naming) {
    const struct profile_function *best = &g->from->functions[naming->best];
    if (naming->copy == 0)
        naming->copy = profile_add_function(g->to, best->name, best->system_name, best->file,
                                            best->start_line);
    return naming->copy;
}

/* The frame for a function of `to` at a place of `from`; `whole`: it is not one that was inlined
 * there. */
static uint32_t function_frame(struct grouping *g, const struct profile_location *place,
                               uint32_t function, uint32_t line_number, bool whole) {
    struct profile_line line = {.function = function,
                                .line = g->by == PROFILE_BY_FUNCTION ? 0 : line_number};
    struct profile_location frame = {.module = module_copy(g, place->module),
                                     .is_entry = line.line == 0,
                                     .effect = whole ? place->effect : 0,
                                     .self_effect = whole ? place->self_effect : 0,
                                     .n_lines = 1,
                                     .lines = &line};
    if (g->by == PROFILE_BY_MODULE)
        return module_frame(g, frame.module);
    if (g->by == PROFILE_BY_SITE) {
        frame.address = place->address;
        frame.is_entry = place->is_entry;
    }
    return profile_intern_location(g->to, &frame);
}

static void add_frame(struct grouping *g, uint32_t frame) {
    g->frame = memory_grow(g->frame, g->n_frames, &g->frame_room, sizeof *g->frame, "frames");
    g->frame[g->n_frames++] = frame;
}

static bool is_of(const struct profile *profile, const struct profile_location *place,
                  const char *module) {
    return strcmp(profile->modules[place->module].path, module) == 0;
}

/* Threads and labels stand for no code. */
static bool is_named(const struct profile *profile, const struct profile_location *place) {
    return is_of(profile, place, PROFILE_THREADS) || is_of(profile, place, PROFILE_LABELS);
}

/* By thread only threads are frames, by label only labels: their module, NULL: all are. */
static const char *only_module(enum profile_by by) {
    return by == PROFILE_BY_THREAD  ? PROFILE_THREADS
           : by == PROFILE_BY_LABEL ? PROFILE_LABELS
                                    : NULL;
}

/* Says of a grouped profile that there is none. */
static bool is_none(const struct profile *profile, const struct profile_location *place) {
    const char *name =
        profile_is_pseudo(place) ? profile->functions[place->lines[0].function].name : "";
    return strcmp(name, NO_LABEL) == 0 || strcmp(name, NO_THREAD) == 0;
}

/* The frames of location i, outermost first. */
static void add_frames(struct grouping *g, uint32_t i) {
    const struct profile *from = g->from;
    const struct profile_location *place = &from->locations[i];
    const char *only = only_module(g->by);
    if (only != NULL && !is_of(from, place, only) && !is_none(from, place))
        return;
    if (profile_is_pseudo(place) || profile_is_pruned(from, i) || is_named(from, place)) {
        add_frame(g, profile_add_pseudo(g->to, from->functions[place->lines[0].function].name));
        return;
    }
    for (uint32_t k = place->n_lines; k > 0; k--) {
        const struct profile_line *line = &place->lines[k - 1];
        uint32_t function = function_copy(g, find_naming(g, place->module, line->function));
        add_frame(g, function_frame(g, place, function, line->line, k == place->n_lines));
    }
    if (place->n_lines == 0) {
        const char *name = profile_place_name(g->to, from, place);
        add_frame(
            g, function_frame(g, place, profile_add_function(g->to, name, name, "", 0), 0, true));
    }
}

/* A context begins with none of what they are grouped by. A label may still follow a thread. Where
 * its frames are not known it may belong to any. */
static uint32_t add_none(struct grouping *g, uint32_t root, const struct profile_node *source) {
    const struct profile_location *place = &g->from->locations[source->location];
    bool by_label = g->by == PROFILE_BY_LABEL;
    if (by_label && is_of(g->from, place, PROFILE_THREADS) && source->count == 0)
        return root;
    if (profile_is_pruned(g->from, source->location))
        return profile_add_node(g->to, root, profile_add_pseudo(g->to, PROFILE_PRUNED), 0, 0);
    return profile_add_node(g->to, root, profile_add_pseudo(g->to, by_label ? NO_LABEL : NO_THREAD),
                            0, 0);
}

/* The node of `to` for the frames of one node of `from` below `node`. */
static uint32_t add_path(struct grouping *g, uint32_t node, const struct profile_node *source) {
    struct profile *to = g->to;
    uint32_t first = g->first[source->location], end = g->first[source->location + 1];
    if (first == end && to->nodes[node].parent == 0)
        return add_none(g, node, source);
    for (uint32_t k = first; k < end; k++) {
        bool inlined = k > first || source->inlined;
        uint32_t before = to->n_nodes;
        if (g->by == PROFILE_BY_MODULE && to->nodes[node].location == g->frame[k])
            continue;
        node = profile_add_node(to, node, g->frame[k], 0, 0);
        to->nodes[node].inlined = inlined && (node == before || to->nodes[node].inlined);
    }
    return node;
}

/* A context that was not kept may be the same by `by` as one that was. By site no two are: there,
 * the error of its counter holds where the context has one. */
static void find_errors(struct grouping *g) {
    uint64_t *most = bounds_self(g->to);
    for (uint32_t i = 1; i < g->to->n_nodes; i++) {
        struct profile_node *node = &g->to->nodes[i];
        const struct profile_location *place = &g->to->locations[node->location];
        bool counted = (node->count > 0 || node->error > 0) && !profile_is_pseudo(place);
        if (g->by != PROFILE_BY_SITE || (counted ? node->error > most[i] : place->is_entry))
            node->error = most[i];
    }
    free(most);
}

struct profile *profile_group(const struct profile *profile, enum profile_by by, double phi) {
    struct grouping g = {.from = profile, .to = copy_begin(profile), .by = by, .n_namings = 1};
    uint32_t *node = memory_new(profile->n_nodes, sizeof *node, "contexts");
    struct profile *pruned;

    profile_reserve_nodes(g.to, profile->n_nodes);
    g.naming_of = memory_new(profile->n_functions, sizeof *g.naming_of, "functions");
    g.module_of = memory_new(profile->n_modules, sizeof *g.module_of, "modules");
    g.first = memory_new((size_t)profile->n_locations + 1, sizeof *g.first, "frames");
    g.namings = memory_grow(NULL, 0, &g.naming_room, sizeof *g.namings, "functions");
    make_namings(&g);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        g.first[i] = g.n_frames;
        add_frames(&g, i);
    }
    g.first[profile->n_locations] = g.n_frames;
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *source = &profile->nodes[i];
        node[i] = source->parent == 0 ? profile_root(g.to, source->process)
                                      : add_path(&g, node[source->parent], source);
        g.to->nodes[node[i]].count += source->count;
        g.to->nodes[node[i]].error += source->error;
        g.to->nodes[node[i]].counter_error += source->counter_error;
    }
    find_errors(&g);
    free(node);
    free(g.first);
    free(g.frame);
    free(g.namings);
    free(g.naming_of);
    free(g.module_of);
    intern_free(&g.by_name);

    pruned = profile_prune_own(g.to, phi);
    pruned->phi = phi > pruned->phi ? phi : pruned->phi; /* what is hot there, from now on */
    return pruned;
}
