/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * transform.c - one pass over the contexts for each, callers first: where each of them goes.
 */
#include "common/profile/transform.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/copy.h"
#include "common/profile/filter.h"

struct rewriting {
    const struct profile *from;
    struct profile *to;
    uint32_t *node;  /* of `from` -> of `to` */
    uint32_t *place; /* location of `from` -> of `to`, 0: not there yet */
    bool *matched;   /* by location of `from`; NULL: nothing is looked for */
    bool *hidden;    /* by node of `from`: its frames are not all known, one may be matched */
    /* By node of `from`, for TRANSFORM_FOLD: the outermost frame, of `to`, that it stands below,
     * and the PROFILE_PRUNED frame, of `from`; either may be its own. */
    uint32_t *outermost, *hidden_top;
    uint32_t outside; /* location of `to` for what is not in question */
    uint32_t unknown; /* ... and for what may be */
};

/* Where the context goes; its caller, which is no root, has gone already. */
typedef uint32_t (*rewrite_fn)(struct rewriting *r, uint32_t node);

static uint32_t place_of(struct rewriting *r, uint32_t location) {
    if (r->place[location] == 0)
        r->place[location] = copy_location(r->to, r->from, location);
    return r->place[location];
}

static uint32_t add_below(struct rewriting *r, uint32_t caller, uint32_t node) {
    uint32_t added =
        profile_add_node(r->to, caller, place_of(r, r->from->nodes[node].location), 0, 0);
    r->to->nodes[added].inlined = r->from->nodes[node].inlined;
    return added;
}

static bool is_root(const struct profile *profile, uint32_t node) {
    return profile->nodes[node].parent == 0;
}

static struct profile *rewrite(struct profile *profile, bool *matched, rewrite_fn where) {
    struct rewriting r = {.from = profile,
                          .to = copy_begin(profile),
                          .matched = matched,
                          .hidden = profile_find_hidden(profile)};
    r.node = memory_new(profile->n_nodes, sizeof *r.node, "contexts");
    r.place = memory_new(profile->n_locations, sizeof *r.place, "locations");
    r.outermost = memory_new(profile->n_nodes, sizeof *r.outermost, "contexts");
    r.hidden_top = memory_new(profile->n_nodes, sizeof *r.hidden_top, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        r.node[i] =
            is_root(profile, i) ? profile_root(r.to, profile->nodes[i].process) : where(&r, i);
        copy_weight(&r.to->nodes[r.node[i]], &profile->nodes[i]);
    }
    free(r.node);
    free(r.place);
    free(r.outermost);
    free(r.hidden_top);
    free(matched);
    free(r.hidden);
    profile_free(profile);
    return r.to;
}

/* ---- what each of them does ---- */

static uint32_t merge(struct rewriting *r, uint32_t i) {
    const struct profile_node *node = &r->from->nodes[i];
    uint32_t caller = r->node[node->parent];
    return r->matched[node->location] ? caller : add_below(r, caller, i);
}

/* Contexts below the root that have no frames of their own any more. */
static uint32_t add_apart(struct rewriting *r, uint32_t root, uint32_t *place, const char *name) {
    if (*place == 0)
        *place = profile_add_pseudo(r->to, name);
    return profile_add_node(r->to, root, *place, 0, 0);
}

static bool is_apart(const struct rewriting *r, uint32_t node) {
    uint32_t location = r->to->nodes[node].location;
    return location != 0 && (location == r->outside || location == r->unknown);
}

/* It has begun, or it stands below another of its kind. */
static uint32_t add_somewhere_below(struct rewriting *r, uint32_t root, uint32_t i) {
    uint32_t first = add_below(r, root, i), unknown = profile_add_pseudo(r->to, PROFILE_PRUNED);
    return add_below(r, profile_add_node(r->to, first, unknown, 0, 0), i);
}

static uint32_t reroot(struct rewriting *r, uint32_t i) {
    const struct profile_node *node = &r->from->nodes[i];
    uint32_t caller = r->node[node->parent], root = profile_root(r->to, node->process);
    bool inside = caller != root && !is_apart(r, caller);
    if (inside)
        return add_below(r, caller, i);
    if (r->matched[node->location])
        return r->hidden[i] ? add_somewhere_below(r, root, i) : add_below(r, root, i);
    return r->hidden[i] ? add_apart(r, root, &r->unknown, PROFILE_PRUNED)
                        : add_apart(r, root, &r->outside, FILTER_NOT_IN_FOCUS);
}

/* The frame that stands for a module's. */
static uint32_t module_place(struct rewriting *r, uint32_t module) {
    const char *path = r->from->modules[module].path, *name = profile_basename(path);
    struct profile_line line = {.function = profile_add_function(r->to, name, name, "", 0)};
    struct profile_location location = {.module = copy_module(r->to, r->from, module),
                                        .is_entry = true,
                                        .n_lines = 1,
                                        .lines = &line};
    return profile_intern_location(r->to, &location);
}

static uint32_t collapse(struct rewriting *r, uint32_t i) {
    const struct profile_node *node = &r->from->nodes[i];
    uint32_t caller = r->node[node->parent];
    if (!r->matched[node->location])
        return add_below(r, caller, i);
    uint32_t place = module_place(r, r->from->locations[node->location].module);
    return r->to->nodes[caller].location == place && !is_root(r->to, caller)
               ? caller
               : profile_add_node(r->to, caller, place, 0, 0);
}

/* Frames that are not known may lead back to any that is. */
static uint32_t fold_one(struct rewriting *r, uint32_t i) {
    const struct profile_node *node = &r->from->nodes[i];
    uint32_t caller = r->node[node->parent], place = place_of(r, node->location), unknown = 0;
    if (r->hidden[i] && !r->hidden[node->parent])
        return add_below(r, is_root(r->to, caller) ? caller : r->outermost[node->parent], i);
    if (r->hidden[i])
        unknown = place_of(r, r->from->nodes[r->hidden_top[i]].location);
    for (uint32_t at = caller; !is_root(r->to, at); at = r->to->nodes[at].parent) {
        if (r->to->nodes[at].location == place)
            return at;
        if (r->to->nodes[at].location == unknown)
            break;
    }
    return add_below(r, caller, i);
}

static uint32_t fold(struct rewriting *r, uint32_t i) {
    uint32_t parent = r->from->nodes[i].parent;
    r->hidden_top[i] = r->hidden[parent] ? r->hidden_top[parent] : i;
    uint32_t to = fold_one(r, i);
    r->outermost[i] = is_root(r->to, r->node[parent]) ? to : r->outermost[parent];
    return to;
}

static uint32_t invert(struct rewriting *r, uint32_t i) {
    uint32_t at = profile_root(r->to, r->from->nodes[i].process);
    if (r->from->nodes[i].count == 0 && r->from->nodes[i].error == 0)
        return at;
    for (; !is_root(r->from, i); i = r->from->nodes[i].parent)
        at = add_below(r, at, i);
    return at;
}

static struct profile *drop(struct profile *profile, bool *matched) {
    struct profile *rest = profile_ignore(profile, matched);
    free(matched);
    profile_free(profile);
    return rest;
}

struct profile *transform_one(struct profile *profile, enum transform_kind kind, bool *matched) {
    static const rewrite_fn where[TRANSFORM_KINDS] = {
        [TRANSFORM_MERGE] = merge, [TRANSFORM_ROOT] = reroot,   [TRANSFORM_COLLAPSE] = collapse,
        [TRANSFORM_FOLD] = fold,   [TRANSFORM_INVERT] = invert,
    };
    return kind == TRANSFORM_DROP ? drop(profile, matched) : rewrite(profile, matched, where[kind]);
}

/* What is hidden may be of other contexts than before. */
static void find_errors(struct profile *profile) {
    uint64_t *most = bounds_self(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].error < most[i])
            profile->nodes[i].error = most[i];
    free(most);
}

/* ---- what is looked for ---- */

static bool *match_modules(const struct profile *profile, const char *expression) {
    bool *modules = filter_match_modules(profile, expression);
    bool *matched = memory_new(profile->n_locations, sizeof *matched, "locations");
    for (uint32_t i = 1; i < profile->n_locations; i++)
        matched[i] = profile->locations[i].module != 0 && modules[profile->locations[i].module];
    free(modules);
    return matched;
}

static bool *match_system_calls(const struct profile *profile) {
    bool *matched = memory_new(profile->n_locations, sizeof *matched, "locations");
    for (uint32_t i = 1; i < profile->n_locations; i++)
        matched[i] =
            strcmp(profile->modules[profile->locations[i].module].path, PROFILE_KERNEL) == 0;
    return matched;
}

struct profile *transform_apply(struct profile *profile, const struct transform *t,
                                enum profile_by by) {
    if (t->no_system_calls)
        profile = transform_one(profile, TRANSFORM_MERGE, match_system_calls(profile));
    if (t->merge == NULL && t->root == NULL && t->collapse == NULL && !t->recursion && !t->invert)
        return profile;
    struct profile *grouped = profile_group(profile, by, 0);
    profile_free(profile);
    if (t->merge != NULL)
        grouped =
            transform_one(grouped, TRANSFORM_MERGE, filter_match_locations(grouped, t->merge));
    if (t->root != NULL)
        grouped = transform_one(grouped, TRANSFORM_ROOT, filter_match_locations(grouped, t->root));
    if (t->collapse != NULL)
        grouped = transform_one(grouped, TRANSFORM_COLLAPSE, match_modules(grouped, t->collapse));
    if (t->recursion) {
        grouped = transform_one(grouped, TRANSFORM_FOLD, NULL);
        find_errors(grouped);
    }
    if (t->invert)
        grouped = transform_one(grouped, TRANSFORM_INVERT, NULL);
    return grouped;
}
