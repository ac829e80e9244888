/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * assemble.c - lay a copied tree out as places in the code.
 *
 * Tree:     main --(site s1 in main)--> f --(site s2 in f)--> g
 * Profile:  main@s1 > f@s2 > g          the path of g's self weight
 *           main@s1 > f                 the path of f's self weight
 *
 * Where lines were asked for, a routine's self weight is that of its places, nodes of their own:
 *
 * Tree:     main --> f --> (at pc p in f)
 * Profile:  main@s1 > f@p               beside main@s1 > f@s2 and, for weight of f without a place,
 *                                       main@s1 > f
 *
 * All that the tree keeps stays; count - error of a counter is certain, and is the profile's count.
 * A residual, the weight of contexts that the tree does not keep, stands below the deepest caller
 * that it keeps, beside that one's self weight:
 *
 * Tree:     main --> f --> (residual of g)
 * Profile:  main@s1 > f > [~] > g
 */
#include "common/assemble/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assemble/generated.h"
#include "common/base/memory.h"
#include "common/code/frame.h"
#include "common/wire/compiler.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"
#include "common/code/system_call.h"
#include "common/profile/numbers.h"
#include "common/profile/profile_contexts.h"
#include "common/wire/metric.h"
#include "common/wire/wire.h"

struct assembler {
    struct profile *profile;
    uint32_t *module_of, *profile_module; /* profile index -> id, module_place(id) -> index */
    uint32_t module_of_room, profile_module_room;
    const struct assemble_part *parts;
    size_t n_parts;
    FILE *contexts;           /* where contexts go to, NULL: to the profile */
    uint32_t handle;          /* of the next one there */
    bool calls;               /* the process at hand reported its calls */
    struct routine *routines; /* of which design effects are known, in order of addresses */
    size_t n_routines;
};

struct routine {
    uint32_t module;
    uint64_t address;
    float effect, self_effect;
};

/* As profile_add_node(); a handle where contexts are written down. What can't be written is an
 * error of the stream. */
static uint32_t add_node(struct assembler *f, uint32_t parent, uint32_t location, uint64_t count,
                         uint64_t error) {
    const struct profile_context context = {parent, location, count, error};
    if (f->contexts == NULL)
        return profile_add_node(f->profile, parent, location, count, error);
    fwrite(&context, sizeof context, 1, f->contexts);
    return f->handle++;
}

static bool get_key(uint32_t frame, struct frame_key *key) {
    return frame != FRAME_OVERFLOW && frame_get(frame, key);
}

/* A place in a routine; one in anything else was made up by a hostile agent. */
static bool is_leaf_pc(const struct tree_copy *copy, const struct copied_node *c) {
    struct frame_key key;
    return c->parent != 0 && !copy->node[c->parent].leaf_pc && get_key(c->frame, &key) &&
           frame_is_leaf_pc(&key);
}

/* ---- design effects ---- */

/* Of a routine, by one of its frames. */
struct known {
    struct frame_key key;
    struct scatter_effect sums;
};

static int compare_addresses(uint32_t module, uint64_t address, const struct routine *of) {
    if (module != of->module)
        return module < of->module ? -1 : 1;
    return address < of->address ? -1 : address > of->address;
}

static int compare_known(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    const struct routine of = {.module = y->key.routine_module, .address = y->key.routine};
    int order = compare_addresses(x->key.routine_module, x->key.routine, &of);
    return order != 0 ? order : x->sums.at_work - y->sums.at_work;
}

/* What is known in all processes, by routine; *all: of all functions together. */
static struct known *gather_effects(const struct assembler *f, struct scatter_effects *all,
                                    size_t *n) {
    size_t room = 1;
    for (size_t i = 0; i < f->n_parts; i++)
        room += f->parts[i].effects.n;
    struct known *known = memory_new(room, sizeof *known, "design effects");
    *n = 0;
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct scatter_effects *part = &f->parts[i].effects;
        all->weight += part->weight;
        all->independent += part->independent;
        all->total += part->total;
        all->drawn_alone |= part->drawn_alone;
        for (size_t k = 0; k < part->n; k++)
            if (get_key(part->effect[k].frame, &known[*n].key))
                known[(*n)++].sums = part->effect[k];
    }
    qsort(known, *n, sizeof *known, compare_known);
    return known;
}

/* The routine that the next of `known` is of, and its effects: of all that are of it. */
static size_t take_routine(struct routine *routine, const struct scatter_effects *all,
                           const struct known *known, size_t n) {
    size_t i = 0;
    *routine = (struct routine){.module = known->key.routine_module, .address = known->key.routine};
    while (i < n &&
           compare_addresses(known[i].key.routine_module, known[i].key.routine, routine) == 0) {
        struct scatter_effect sums = known[i].sums;
        size_t next = i + 1;
        for (; next < n && compare_known(&known[i], &known[next]) == 0; next++)
            scatter_effect_add(&sums, &known[next].sums);
        *(sums.at_work ? &routine->self_effect : &routine->effect) = scatter_effect_of(all, &sums);
        i = next;
    }
    return i;
}

static void take_effects(struct assembler *f) {
    struct scatter_effects all = {0};
    size_t n;
    struct known *known = gather_effects(f, &all, &n);
    f->routines = memory_new(n + 1, sizeof *f->routines, "design effects");
    for (size_t i = 0; i < n;)
        i += take_routine(&f->routines[f->n_routines++], &all, &known[i], n - i);
    free(known);
}

/* A place of the frame's routine. */
static uint32_t with_effects(struct assembler *f, uint32_t place, uint32_t frame) {
    struct frame_key key;
    if (f->n_routines == 0 || !get_key(frame, &key))
        return place;
    size_t low = 0, high = f->n_routines;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_addresses(key.routine_module, key.routine, &f->routines[middle]);
        if (order == 0) {
            profile_set_effects(f->profile, place, f->routines[middle].effect,
                                f->routines[middle].self_effect);
            break;
        }
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return place;
}

/* ---- places ---- */

static uint32_t *grow(uint32_t *array, uint32_t *room, uint32_t need) {
    if (need < *room)
        return array;
    uint32_t n = need + 64;
    uint32_t *grown = memory_new(n, sizeof *grown, "a profile's modules");
    if (array != NULL)
        memcpy(grown, array, *room * sizeof *grown);
    free(array);
    *room = n;
    return grown;
}

/* A program is called by the link that it was executed by (redis-server, which is redis-check-rdb)
 * where all its processes here were; else by its file. */
static const char *module_path(const struct assembler *f, const char *path) {
    const char *link = NULL, *slash = strrchr(path, '/');
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct assemble_part *part = &f->parts[i];
        if (strcmp(part->process.exe, path) != 0)
            continue;
        if (!part->linked || (link != NULL && strcmp(part->process.command, link) != 0))
            return path;
        link = part->process.command;
    }
    if (link == NULL || slash == NULL)
        return path;
    size_t directory = (size_t)(slash + 1 - path), bytes = directory + strlen(link) + 1;
    char *whole = memory_new(1, bytes, "a profile's modules");
    snprintf(whole, bytes, "%.*s%s", (int)directory, path, link);
    const char *kept = profile_string(f->profile, whole);
    free(whole);
    return kept;
}

static uint32_t module_index(struct assembler *f, uint32_t id) {
    struct module_info info;
    if (id == 0 || !module_get(id, &info))
        return 0;
    uint32_t place = module_place(id);
    f->profile_module = grow(f->profile_module, &f->profile_module_room, place);
    uint32_t known = f->profile_module[place];
    if (known != 0 && f->module_of[known] == id)
        return known;
    char hex[2 * MODULE_BUILD_ID_MAX + 1] = "";
    for (unsigned i = 0; i < info.build_id_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", info.build_id[i]);
    uint32_t index =
        profile_add_module(f->profile, info.is_vdso ? "[vdso]" : module_path(f, info.path), hex);
    f->module_of = grow(f->module_of, &f->module_of_room, index);
    f->module_of[index] = id;
    f->profile_module[place] = index;
    return index;
}

static const char *const mark_names[WIRE_PSEUDO_MAX] = {
    [0] = "[unknown]",
    [WIRE_PSEUDO_TRUNCATED] = "[deeper than the frame limit]",
    [WIRE_PSEUDO_NO_MODULE] = "[called from generated code]",
    [WIRE_PSEUDO_NO_RULE] = "[no unwind rule]",
    [WIRE_PSEUDO_BAD_STACK] = "[unreadable stack]",
    [WIRE_PSEUDO_SHORT_COPY] = "[stack copy too short]",
    [WIRE_PSEUDO_LOST] = PROFILE_PRUNED,
};

static bool is_mark(const struct frame_key *key) {
    return key->routine_module == 0 && key->routine < WIRE_PSEUDO_MAX;
}

static uint32_t mark_place(struct assembler *f, uint64_t mark) {
    const char *name = mark_names[mark];
    return profile_add_pseudo(f->profile, name != NULL ? name : mark_names[0]);
}

static uint32_t named_place(struct assembler *f, const char *module, uint64_t number) {
    const char *name = jit_name((uint32_t)number);
    struct profile_line line = {.function = profile_add_function(f->profile, name, name, "", 0)};
    struct profile_location location = {.module = profile_add_module(f->profile, module, ""),
                                        .is_entry = true,
                                        .n_lines = 1,
                                        .lines = &line};
    return profile_intern_location(f->profile, &location);
}

/* A generated function is its name: its addresses mean nothing outside its process. So is a system
 * call. */
static uint32_t jit_place(struct assembler *f, uint64_t number) {
    bool call = system_call_is_name(jit_name((uint32_t)number));
    return named_place(f, call ? PROFILE_KERNEL : GENERATED_MODULE, number);
}

static uint32_t place_of_routine(struct assembler *f, uint32_t frame) {
    struct frame_key key;
    if (!get_key(frame, &key))
        return profile_add_pseudo(f->profile, "[too many frames]");
    if (is_mark(&key))
        return mark_place(f, key.routine);
    if (frame_is_thread(&key))
        return named_place(f, PROFILE_THREADS, key.routine);
    if (frame_is_label(&key))
        return named_place(f, PROFILE_LABELS, key.routine);
    if (key.routine_module == MODULE_JIT)
        return jit_place(f, key.routine);
    return profile_add_location(f->profile, module_index(f, key.routine_module), key.routine, true);
}

/* The place of a frame's self weight: the routine as a whole. */
static uint32_t routine_place(struct assembler *f, uint32_t frame) {
    return with_effects(f, place_of_routine(f, frame), frame);
}

/* Instrumented functions say themselves which one is called and which one calls, so the parent is
 * the caller even where the call site lies in code that does not report: it was inlined there, or
 * called back by a library. */
static uint32_t reported_place(struct assembler *f, uint32_t frame, const struct frame_key *parent,
                               const struct frame_key *key) {
    if (key->site_module != parent->routine_module || key->site_module == MODULE_JIT)
        return routine_place(f, frame);
    struct profile_location location = {.module = module_index(f, parent->routine_module),
                                        .address = key->site - 1,
                                        .routine = parent->routine};
    return profile_intern_location(f->profile, &location);
}

static uint32_t site_place(struct assembler *f, const struct frame_key *key) {
    if (key->site_module == MODULE_JIT)
        return jit_place(f, key->site);
    return profile_add_location(f->profile, module_index(f, key->site_module), key->site - 1,
                                false);
}

/* The profile node below which a child's weight stands: its parent, at the call site. */
static uint32_t place_below(struct assembler *f, const struct tree_copy *copy,
                            const struct copied_node *c) {
    const struct copied_node *parent = &copy->node[c->parent];
    struct frame_key key, parent_key;
    if (c->parent == 0)
        return parent->place;
    bool no_code =
        get_key(parent->frame, &parent_key) &&
        (is_mark(&parent_key) || frame_is_thread(&parent_key) || frame_is_label(&parent_key));
    if (no_code || !get_key(c->frame, &key) || key.site == 0)
        return add_node(f, parent->place, routine_place(f, parent->frame), 0, 0);
    uint32_t place =
        f->calls ? reported_place(f, parent->frame, &parent_key, &key) : site_place(f, &key);
    return add_node(f, parent->place, with_effects(f, place, parent->frame), 0, 0);
}

/* Where the weight at a place stands beside that of the routine around it. */
static uint32_t leaf_pc_place(struct assembler *f, const struct copied_node *routine,
                              uint32_t leaf_pc) {
    struct frame_key key;
    if (!get_key(leaf_pc, &key) || key.site_module == 0)
        return routine_place(f, routine->frame);
    return with_effects(
        f, profile_add_location(f->profile, module_index(f, key.site_module), key.site, false),
        routine->frame);
}

/* The location of the leaf of contexts that are not kept; 0: not known. */
static uint32_t leaf_place(struct assembler *f, uint32_t frame) {
    struct frame_key key;
    if (frame == 0)
        return 0;
    if (!get_key(frame, &key) || !frame_is_leaf_pc(&key))
        return routine_place(f, frame);
    if (key.site_module == 0)
        return 0;
    return profile_add_location(f->profile, module_index(f, key.site_module), key.site, false);
}

/* ---- layout ---- */

/* Below the routine's self weight: at which place of it the others were called is not known. */
static void add_residual(struct assembler *f, const struct tree_copy *copy,
                         const struct copied_node *c, uint32_t pruned) {
    const struct copied_node *caller = &copy->node[c->parent];
    if (c->count == 0)
        return;
    if (caller->leaf_pc)
        caller = &copy->node[caller->parent];
    uint32_t at = caller->place, leaf = leaf_place(f, c->frame);
    if (caller != &copy->node[0])
        at = add_node(f, at, routine_place(f, caller->frame), 0, 0);
    at = add_node(f, at, pruned, leaf != 0 ? 0 : c->count, 0);
    if (leaf != 0)
        add_node(f, at, leaf, c->count, 0);
}

static void add_counter(struct assembler *f, struct tree_copy *copy, struct copied_node *c,
                        uint64_t certain) {
    const struct copied_node *parent = &copy->node[c->parent];
    c->leaf_pc = is_leaf_pc(copy, c);
    c->place = c->leaf_pc ? parent->place : place_below(f, copy, c);
    if (c->count == 0)
        return;
    uint32_t location =
        c->leaf_pc ? leaf_pc_place(f, parent, c->frame) : routine_place(f, c->frame);
    add_node(f, c->place, location, certain, c->error);
}

static void lay_out(struct assembler *f, struct tree_copy *copy, uint32_t root, uint64_t total) {
    uint32_t pruned = profile_add_pseudo(f->profile, PROFILE_PRUNED);
    uint64_t placed = 0;
    copy->node[0].place = root;
    for (size_t i = 1; i < copy->n; i++) { /* parents come before their children */
        struct copied_node *c = &copy->node[i];
        uint64_t certain = c->residual ? c->count : c->count > c->error ? c->count - c->error : 0;
        placed += certain;
        if (c->residual)
            add_residual(f, copy, c, pruned);
        else
            add_counter(f, copy, c, certain);
    }
    if (placed < total) /* what no context has, not even a residual, may belong anywhere */
        add_node(f, root, pruned, total - placed, 0);
}

/* A context that has a number is the places of its calls, as they are. */
static void add_numbers(struct assembler *f, const struct assemble_part *part) {
    uint32_t before = f->profile->n_numbers > 0 ? f->profile->n_numbers - 1 : 0;
    for (size_t i = 0; i < part->n_numbers; i++) {
        const struct assemble_number *it = &part->numbers[i];
        uint32_t location = it->frame != 0 ? leaf_place(f, it->frame)
                                           : profile_add_pseudo(f->profile, NUMBERS_THREAD);
        if (location == 0)
            location = mark_place(f, 0);
        numbers_add(f->profile, it->number, it->parent != 0 ? it->parent + before : 0, location);
    }
}

/* ---- the profile ---- */

static bool counts_calls(const struct profile_process *process) {
    return process->collector != NULL && strcmp(process->collector, "calls") == 0;
}

static void describe_type(struct profile *profile, const char *collector, const char *type) {
    const char *unit = strcmp(type, "calls") == 0 ? "count" : "nanoseconds";
    const struct metric *metric = collector != NULL ? metric_find(collector) : NULL;
    if (metric != NULL) { /* of events: walks are no metric's name */
        type = metric->type;
        unit = metric->unit;
    }
    profile->type = profile_string(profile, type);
    profile->unit = profile_string(profile, unit);
}

static void describe(struct profile *profile, const struct assemble_part *parts, size_t n,
                     const struct assemble_params *params) {
    size_t n_wall = 0, n_off = 0, n_calls = 0;
    for (size_t i = 0; i < n; i++) {
        const struct profile_process *process = &parts[i].process;
        n_wall += process->clock != NULL && strcmp(process->clock, "wall") == 0;
        n_off += process->clock != NULL && strcmp(process->clock, "off") == 0;
        n_calls += counts_calls(process);
    }
    bool calls = n > 0 && n_calls == n, wall = n > 0 && n_wall == n, off = n > 0 && n_off == n;
    describe_type(profile, n > 0 ? parts[0].process.collector : NULL,
                  calls  ? "calls"
                  : wall ? "wall"
                  : off  ? "wait"
                         : "cpu");
    profile->summary = profile_string(profile, params->summary);
    profile->phi = params->phi;
    profile->epsilon = params->epsilon;
}

static void describe_tree(struct profile_process *process, const struct mcct_stats *tree) {
    process->total = tree->total;
    process->contexts = tree->nodes > 0 ? tree->nodes - 1 : 0; /* no tree has no root */
    process->monitored = tree->monitored;
    process->unseen = tree->unseen;
    process->bytes = tree->bytes;
    process->capped = tree->capped;
}

struct profile *assemble_trees(struct assemble_part *parts, size_t n,
                               const struct assemble_params *params, uint32_t **module_of) {
    struct assembler f = {
        .profile = profile_new(), .parts = parts, .n_parts = n, .contexts = params->contexts};
    describe(f.profile, parts, n, params);
    for (size_t i = 0; i < n; i++) {
        describe_tree(&parts[i].process, &parts[i].copy.stats);
        profile_add_process(f.profile, &parts[i].process);
    }
    f.handle = f.profile->n_nodes; /* those before are the roots' */
    take_effects(&f);
    for (size_t i = 0; i < n; i++) {
        struct assemble_part *part = &parts[i];
        uint32_t root = profile_root(f.profile, (uint32_t)i + 1);
        f.calls = counts_calls(&part->process);
        if (part->copy.n > 0) /* a process may have nothing of what is asked for */
            lay_out(&f, &part->copy, root, part->copy.stats.total);
        add_numbers(&f, part);
    }
    free(f.profile_module);
    free(f.routines);
    f.module_of = grow(f.module_of, &f.module_of_room, f.profile->n_modules);
    *module_of = f.module_of;
    return f.profile;
}
