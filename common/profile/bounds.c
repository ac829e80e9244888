/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bounds.c - families of nodes: all frames of one caller. A family's PROFILE_PRUNED weight is open
 * to its members and to all below them.
 */
#include "common/profile/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/intern.h"

/* ---- lists ---- */

/* Lists of nodes, or families, one for each family, or node. */
struct lists {
    uint32_t *first; /* those of i are item[first[i] .. first[i + 1]) */
    uint32_t *item;
};

/* Of the numbers i in [1, n) with a list of[i]. */
static void lists_make(struct lists *lists, const uint32_t *of, uint32_t n, uint32_t n_lists) {
    uint32_t *fill = memory_new(n_lists, sizeof *fill, "lists");
    lists->first = memory_new((size_t)n_lists + 1, sizeof *lists->first, "lists");
    lists->item = memory_new(n, sizeof *lists->item, "lists");
    for (uint32_t i = 1; i < n; i++)
        lists->first[of[i] + 1]++;
    for (uint32_t i = 0; i < n_lists; i++)
        lists->first[i + 1] += lists->first[i];
    memcpy(fill, lists->first, n_lists * sizeof *fill);
    for (uint32_t i = 1; i < n; i++)
        lists->item[fill[of[i]]++] = i;
    free(fill);
}

static void lists_make_children(struct lists *lists, const struct profile *profile) {
    uint32_t *parent = memory_new(profile->n_nodes, sizeof *parent, "a tree");
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        parent[i] = profile->nodes[i].parent;
    lists_make(lists, parent, profile->n_nodes, profile->n_nodes);
    free(parent);
}

static void lists_free(struct lists *lists) {
    free(lists->first);
    free(lists->item);
}

/* ---- families ---- */

/* Which function the code of a location belongs to: equal ones are the same function, or not known
 * to be different ones. */
struct owner {
    uint32_t module;
    const char *name; /* of the outermost function there; NULL: it has no name */
};

struct owners {
    struct owner *owner; /* from 1 on */
    uint32_t n, room;
    uint32_t *of; /* by location */
};

struct family {
    uint32_t parent;
    uint64_t hidden; /* in PROFILE_PRUNED frames right below its members */
};

struct families {
    const struct profile *profile;
    bool *hidden; /* by node: in a PROFILE_PRUNED frame */
    uint32_t *of; /* by node; what is hidden is in that of the caller that it stands below */
    struct family *family;
    uint32_t n;
};

/* Strings of a profile are equal when their addresses are. */
static bool same_owner(const void *entries, uint32_t i, const void *key) {
    const struct owner *have = &((const struct owners *)entries)->owner[i], *want = key;
    return have->module == want->module && have->name == want->name;
}

static struct owner owner_of(const struct profile *profile, const struct profile_location *place) {
    struct owner owner = {.module = place->module};
    if (place->n_lines > 0)
        owner.name = profile->functions[place->lines[place->n_lines - 1].function].name;
    if (owner.name != NULL && profile_is_place_name(owner.name))
        owner.name = NULL;
    return owner;
}

static void find_owners(struct owners *owners, const struct profile *profile) {
    struct intern table = {0};
    *owners = (struct owners){.n = 1};
    owners->of = memory_new(profile->n_locations, sizeof *owners->of, "locations");
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        struct owner owner = owner_of(profile, &profile->locations[i]);
        uint32_t *slot = intern_find(&table, seeded_hash(owner.module, (uintptr_t)owner.name),
                                     same_owner, owners, &owner);
        if (*slot == 0) {
            owners->owner = memory_grow(owners->owner, owners->n, &owners->room,
                                        sizeof *owners->owner, "functions");
            owners->owner[owners->n] = owner;
            *slot = owners->n++;
        }
        owners->of[i] = *slot;
    }
    intern_free(&table);
}

static uint32_t add_family(struct families *f, uint32_t parent) {
    f->family[f->n] = (struct family){.parent = parent};
    return f->n++;
}

/* The children of a node, of which those with one owner are a family. `last`: by owner, the family
 * that it had last. */
static void add_families(struct families *f, const struct lists *children, uint32_t parent,
                         const struct owners *owners, uint32_t *last) {
    uint32_t first = f->n;
    for (uint32_t k = children->first[parent]; k < children->first[parent + 1]; k++) {
        uint32_t node = children->item[k];
        uint32_t *family = &last[owners->of[f->profile->nodes[node].location]];
        if (f->hidden[node]) {
            f->of[node] = f->of[parent];
            continue;
        }
        if (*family < first || parent == 0) /* each process is one */
            *family = add_family(f, f->of[parent]);
        f->of[node] = *family;
    }
}

static void families_make(struct families *f, const struct profile *profile) {
    struct owners owners;
    struct lists children;
    *f = (struct families){.profile = profile, .n = 1};
    find_owners(&owners, profile);
    lists_make_children(&children, profile);
    uint32_t *last = memory_new(owners.n, sizeof *last, "functions");
    f->hidden = profile_find_hidden(profile);
    f->of = memory_new(profile->n_nodes, sizeof *f->of, "contexts");
    f->family = memory_new(profile->n_nodes, sizeof *f->family, "contexts");
    for (uint32_t i = 0; i < profile->n_nodes; i++)
        add_families(f, &children, i, &owners, last);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (f->hidden[i])
            f->family[f->of[i]].hidden += profile->nodes[i].count;
    free(last);
    lists_free(&children);
    free(owners.owner);
    free(owners.of);
}

static void families_free(struct families *f) {
    free(f->hidden);
    free(f->of);
    free(f->family);
}

/* ---- inclusive weights ---- */

uint64_t *bounds_upper(const struct profile *profile, const uint64_t *inclusive) {
    uint64_t *upper = memory_new(profile->n_nodes, sizeof *upper, "weights");
    uint64_t *own = memory_new(profile->n_nodes, sizeof *own, "weights");
    uint64_t *open; /* by family: what is hidden there and in all above */
    struct families f;
    families_make(&f, profile);
    open = memory_new(f.n, sizeof *open, "weights");
    for (uint32_t i = 1; i < f.n; i++) /* a family comes after the one above */
        open[i] = open[f.family[i].parent] + f.family[i].hidden;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (f.hidden[i] && !f.hidden[profile->nodes[i].parent])
            own[profile->nodes[i].parent] += inclusive[i];
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        upper[i] = inclusive[i] + (f.hidden[i] ? 0 : open[f.of[i]] - own[i]);
    free(open);
    free(own);
    families_free(&f);
    return upper;
}

/* ---- self weights ---- */

struct walk {
    const struct families *f;
    struct lists nodes, below; /* of families */
    uint64_t *open;            /* by location: hidden in the families that the walk is below */
    uint64_t unknown;          /* the same, of no known location */
    uint64_t *more;
};

/* sign: 1 on the way down, -1 (which wraps around) on the way up. */
static void add_hidden(struct walk *w, uint32_t family, uint64_t sign) {
    const struct profile *profile = w->f->profile;
    for (uint32_t k = w->nodes.first[family]; k < w->nodes.first[family + 1]; k++) {
        uint32_t node = w->nodes.item[k], location = profile->nodes[node].location;
        if (!w->f->hidden[node] || profile->nodes[node].count == 0)
            continue;
        if (profile_is_pruned(profile, location))
            w->unknown += sign * profile->nodes[node].count;
        else
            w->open[location] += sign * profile->nodes[node].count;
    }
}

static void enter(struct walk *w, uint32_t family) {
    const struct profile *profile = w->f->profile;
    add_hidden(w, family, 1);
    for (uint32_t k = w->nodes.first[family]; k < w->nodes.first[family + 1]; k++) {
        uint32_t node = w->nodes.item[k];
        if (!w->f->hidden[node] && profile->nodes[node].parent != 0)
            w->more[node] = w->unknown + w->open[profile->nodes[node].location];
    }
}

static void walk_families(struct walk *w) {
    uint32_t *next = memory_new(w->f->n, sizeof *next, "contexts");
    memcpy(next, w->below.first, w->f->n * sizeof *next);
    for (uint32_t at = 0;;) {
        if (next[at] < w->below.first[at + 1]) {
            at = w->below.item[next[at]++];
            enter(w, at);
        } else if (at != 0) {
            add_hidden(w, at, (uint64_t)-1);
            at = w->f->family[at].parent;
        } else {
            break;
        }
    }
    free(next);
}

uint64_t *bounds_self(const struct profile *profile) {
    struct families f;
    struct walk w = {.f = &f};
    uint32_t *parent;
    families_make(&f, profile);
    parent = memory_new(f.n, sizeof *parent, "contexts");
    for (uint32_t i = 1; i < f.n; i++)
        parent[i] = f.family[i].parent;
    lists_make(&w.nodes, f.of, profile->n_nodes, f.n);
    lists_make(&w.below, parent, f.n, f.n);
    w.open = memory_new(profile->n_locations, sizeof *w.open, "weights");
    w.more = memory_new(profile->n_nodes, sizeof *w.more, "weights");
    walk_families(&w);
    free(parent);
    free(w.open);
    lists_free(&w.nodes);
    lists_free(&w.below);
    families_free(&f);
    return w.more;
}

void bounds_set_errors(struct profile *profile) {
    uint64_t *most = bounds_self(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        if (profile->nodes[i].count > 0)
            profile->nodes[i].error = profile->nodes[i].counter_error = most[i];
    free(most);
}

/* ---- by location ---- */

uint64_t *bounds_hidden(const struct profile *profile, const uint64_t *inclusive) {
    uint64_t *hidden = memory_new(profile->n_nodes, sizeof *hidden, "weights");
    bool *in = profile_find_hidden(profile);
    for (uint32_t i = profile->n_nodes; i-- > 1;) {
        hidden[i] = in[i] ? inclusive[i] : hidden[i];
        if (!in[i] || !in[profile->nodes[i].parent])
            hidden[profile->nodes[i].parent] += hidden[i];
    }
    free(in);
    return hidden;
}

/* Visits the tree in depth and counts how many of a location are open. */
bool *bounds_outermost(const struct profile *profile) {
    uint32_t n = profile->n_nodes, at = 0;
    bool *outermost = memory_new(n, sizeof *outermost, "contexts");
    uint32_t *open = memory_new(profile->n_locations, sizeof *open, "functions");
    uint32_t *next = memory_new(n, sizeof *next, "a tree");
    struct lists below;
    lists_make_children(&below, profile);
    memcpy(next, below.first, n * sizeof *next);
    for (;;) {
        if (next[at] < below.first[at + 1]) {
            at = below.item[next[at]++];
            outermost[at] = open[profile->nodes[at].location]++ == 0;
        } else if (at != 0) {
            open[profile->nodes[at].location]--;
            at = profile->nodes[at].parent;
        } else {
            break;
        }
    }
    lists_free(&below);
    free(next);
    free(open);
    return outermost;
}

/* Adds up inclusive weights of the outermost nodes of each location. *within, by location, is the
 * part that is hidden. */
static void add_outermost(const struct profile *profile, const uint64_t *inclusive,
                          const uint64_t *hidden, struct profile_flat *flat, uint64_t *within) {
    bool *outermost = bounds_outermost(profile);
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        uint32_t location = profile->nodes[i].location;
        flat[location].inclusive += outermost[i] ? inclusive[i] : 0;
        within[location] += outermost[i] ? hidden[i] : 0;
    }
    free(outermost);
}

struct profile_flat *bounds_flat(const struct profile *profile, const uint64_t *inclusive) {
    struct profile_flat *flat = memory_new(profile->n_locations, sizeof *flat, "functions");
    uint64_t *within = memory_new(profile->n_locations, sizeof *within, "functions");
    uint64_t *hidden = bounds_hidden(profile, inclusive), unknown = 0;

    if (profile->flat != NULL) {
        memcpy(flat, profile->flat, profile->n_locations * sizeof *flat);
        free(within);
        free(hidden);
        return flat;
    }
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        flat[profile->nodes[i].location].self += profile->nodes[i].count;
    for (uint32_t i = 1; i < profile->n_locations; i++)
        if (profile_is_pruned(profile, i))
            unknown += flat[i].self;
    add_outermost(profile, inclusive, hidden, flat, within);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        bool pruned = profile_is_pruned(profile, i);
        flat[i].self_upper = flat[i].self + (pruned ? 0 : unknown);
        flat[i].upper = flat[i].inclusive + (pruned ? 0 : hidden[0] - within[i]);
    }
    free(hidden);
    free(within);
    return flat;
}
