/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * subwindows.c - two rings of sub-windows, fine and coarse.
 *
 * A sealed sub-window never changes, so a window that is being summed up holds references to its
 * sub-windows and needs no lock. The one of the minute under way does change: it is copied first
 * when a window holds it.
 */
#include "common/tree/subwindows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/tree/tree.h"

struct subwindow {
    _Atomic unsigned refs; /* its ring's, and one for each window */
    uint64_t index;        /* it begins at index * width */
    struct mcct *tree;     /* NULL: nothing else has weight */
    uint64_t counts[];
};

struct level {
    uint64_t width, at; /* ns; the index of now */
    uint64_t first;     /* older sub-windows are not whole */
    unsigned n;
    struct subwindow *slot[SUBWINDOWS_COARSE]; /* by index modulo n */
};

enum { FINE, COARSE, LEVELS };

struct subwindows {
    struct subwindows_params params;
    uint64_t since;
    struct level level[LEVELS];
};

_Static_assert(SUBWINDOWS_FINE <= SUBWINDOWS_COARSE, "a level's slots suffice for both");

static _Atomic unsigned trees;   /* of all sub-windows in the program */
static _Atomic unsigned sharers; /* struct subwindows in the program */

/* ---- one sub-window ---- */

static struct subwindow *subwindow_new(const struct subwindows *subwindows, uint64_t index) {
    struct subwindow *subwindow =
        calloc(1, sizeof *subwindow + subwindows->params.n_counts * sizeof subwindow->counts[0]);
    if (subwindow != NULL) {
        subwindow->refs = 1;
        subwindow->index = index;
    }
    return subwindow;
}

static void forget_tree(struct subwindow *subwindow) {
    if (subwindow->tree != NULL)
        atomic_fetch_sub(&trees, 1);
    mcct_free(subwindow->tree);
    subwindow->tree = NULL;
}

static void release(struct subwindow *subwindow) {
    if (subwindow == NULL || atomic_fetch_sub(&subwindow->refs, 1) > 1)
        return;
    forget_tree(subwindow);
    free(subwindow);
}

static uint64_t weight_of(const struct subwindow *subwindow) {
    struct mcct_stats stats = {0};
    if (subwindow != NULL && subwindow->tree != NULL)
        mcct_stats(subwindow->tree, &stats);
    return stats.total;
}

/* ---- trees, as far as they go ---- */

static struct subwindow **slot_of(struct level *level, uint64_t index) {
    return &level->slot[index % level->n];
}

static void miss(struct level *level, uint64_t index) {
    level->first = index + 1 > level->first ? index + 1 : level->first;
}

/* A sealed one that no window holds. */
static struct subwindow *oldest(struct level *level) {
    struct subwindow *found = NULL;
    for (unsigned i = 0; i < level->n; i++) {
        struct subwindow *subwindow = level->slot[i];
        if (subwindow != NULL && subwindow->tree != NULL && subwindow->index < level->at &&
            atomic_load(&subwindow->refs) == 1 &&
            (found == NULL || subwindow->index < found->index))
            found = subwindow;
    }
    return found;
}

/* False: there is none in either ring. */
static bool forget_oldest(struct subwindows *subwindows) {
    for (unsigned l = LEVELS; l-- > 0;) {
        struct level *level = &subwindows->level[l];
        struct subwindow *subwindow = oldest(level);
        if (subwindow == NULL)
            continue;
        miss(level, subwindow->index);
        *slot_of(level, subwindow->index) = NULL;
        release(subwindow);
        return true;
    }
    return false;
}

static unsigned count_trees(const struct subwindows *subwindows) {
    unsigned n = 0;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < subwindows->level[l].n; i++)
            n += subwindows->level[l].slot[i] != NULL && subwindows->level[l].slot[i]->tree != NULL;
    return n;
}

/* One more tree is no more than our share. There is enough for all until half of them are there. */
static bool is_fair(const struct subwindows *subwindows) {
    unsigned n = atomic_load(&trees);
    if (n < SUBWINDOWS_TREES_MAX / 2)
        return true;
    return n < SUBWINDOWS_TREES_MAX &&
           count_trees(subwindows) < SUBWINDOWS_TREES_MAX / atomic_load(&sharers);
}

static struct mcct *try_new_tree(const struct subwindows *subwindows) {
    struct mcct_params params = subwindows->params.tree;
    params.max_bytes /= SUBWINDOWS_TREES;
    struct mcct *tree = is_fair(subwindows) ? mcct_new(&params) : NULL;
    if (tree != NULL)
        atomic_fetch_add(&trees, 1);
    return tree;
}

static struct mcct *new_tree(struct subwindows *subwindows) {
    struct mcct *tree = try_new_tree(subwindows);
    while (tree == NULL && forget_oldest(subwindows))
        tree = try_new_tree(subwindows);
    return tree;
}

/* `subwindow` gains all of `from`. False: no memory. */
static bool gain(struct subwindows *subwindows, struct subwindow *subwindow,
                 const struct subwindow *from) {
    if (from->tree != NULL && subwindow->tree == NULL)
        subwindow->tree = new_tree(subwindows);
    if (from->tree != NULL && subwindow->tree == NULL)
        return false;
    if (from->tree != NULL)
        mcct_merge(subwindow->tree, from->tree); /* for what finds no memory `unseen` rises */
    for (unsigned i = 0; i < subwindows->params.n_counts; i++)
        subwindow->counts[i] += from->counts[i];
    return true;
}

/* ---- rings ---- */

/* The sub-window of that index, to be changed. NULL: no memory. */
static struct subwindow *writable(struct subwindows *subwindows, struct level *level,
                                  uint64_t index) {
    struct subwindow **slot = slot_of(level, index), *was = *slot;
    if (was != NULL && was->index == index && atomic_load(&was->refs) == 1)
        return was;
    struct subwindow *subwindow = subwindow_new(subwindows, index);
    if (subwindow != NULL && was != NULL && was->index == index &&
        !gain(subwindows, subwindow, was)) {
        release(subwindow);
        subwindow = NULL;
    }
    if (subwindow == NULL)
        return NULL;
    release(was);
    *slot = subwindow;
    return subwindow;
}

/* The level's sub-window of that index gains `from`. */
static void add_to(struct subwindows *subwindows, struct level *level, uint64_t index,
                   const struct subwindow *from) {
    struct subwindow *subwindow = writable(subwindows, level, index);
    if (subwindow == NULL || !gain(subwindows, subwindow, from))
        miss(level, index);
}

/* NULL: no memory. */
static struct subwindow *current(struct subwindows *subwindows) {
    return writable(subwindows, &subwindows->level[FINE], subwindows->level[FINE].at);
}

static bool is_kept(const struct level *level, uint64_t index) {
    return index + level->n > level->at;
}

static void go_on(struct level *level, uint64_t now) {
    level->at = now / level->width;
    for (unsigned i = 0; i < level->n; i++) {
        if (level->slot[i] == NULL || is_kept(level, level->slot[i]->index))
            continue;
        release(level->slot[i]);
        level->slot[i] = NULL;
    }
}

/* ---- life ---- */

struct subwindows *subwindows_new(const struct subwindows_params *params, uint64_t now) {
    struct subwindows *subwindows = calloc(1, sizeof *subwindows);
    if (subwindows == NULL)
        return NULL;
    atomic_fetch_add(&sharers, 1);
    subwindows->params = *params;
    subwindows->since = now;
    subwindows->level[FINE] = (struct level){
        .width = SUBWINDOWS_FINE_NS, .at = now / SUBWINDOWS_FINE_NS, .n = SUBWINDOWS_FINE};
    subwindows->level[COARSE] = (struct level){
        .width = SUBWINDOWS_COARSE_NS, .at = now / SUBWINDOWS_COARSE_NS, .n = SUBWINDOWS_COARSE};
    return subwindows;
}

void subwindows_free(struct subwindows *subwindows) {
    if (subwindows == NULL)
        return;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < subwindows->level[l].n; i++)
            release(subwindows->level[l].slot[i]);
    atomic_fetch_sub(&sharers, 1);
    free(subwindows);
}

struct mcct *subwindows_tree(struct subwindows *subwindows) {
    struct subwindow *subwindow = current(subwindows);
    if (subwindow == NULL)
        return NULL;
    if (subwindow->tree == NULL)
        subwindow->tree = new_tree(subwindows);
    return subwindow->tree;
}

void subwindows_miss(struct subwindows *subwindows) {
    for (unsigned l = 0; l < LEVELS; l++)
        miss(&subwindows->level[l], subwindows->level[l].at);
}

bool subwindows_count(struct subwindows *subwindows, const uint64_t *counts) {
    struct subwindow *subwindow = current(subwindows);
    for (unsigned i = 0; subwindow != NULL && i < subwindows->params.n_counts; i++)
        subwindow->counts[i] += counts[i];
    return subwindow != NULL;
}

bool subwindows_due(const struct subwindows *subwindows, uint64_t now) {
    return now / SUBWINDOWS_FINE_NS > subwindows->level[FINE].at;
}

bool subwindows_credited(const struct subwindows *subwindows) {
    const struct level *fine = &subwindows->level[FINE];
    return weight_of(fine->slot[fine->at % fine->n]) > 0;
}

/* To its minute's sub-window. */
static void pass_on(struct subwindows *subwindows, const struct subwindow *sealed, uint64_t now) {
    struct level *coarse = &subwindows->level[COARSE];
    uint64_t index = sealed->index * SUBWINDOWS_FINE_NS / SUBWINDOWS_COARSE_NS;
    if (index + coarse->n <= now / coarse->width)
        return;
    add_to(subwindows, coarse, index, sealed);
}

void subwindows_advance(struct subwindows *subwindows, uint64_t now) {
    struct level *fine = &subwindows->level[FINE];
    struct subwindow **slot = slot_of(fine, fine->at), *subwindow = *slot;
    if (!subwindows_due(subwindows, now))
        return;
    bool heavy = weight_of(subwindow) > 0;
    if (heavy) {
        mcct_close_cursors(subwindow->tree);
        pass_on(subwindows, subwindow, now);
    } else {
        *slot = NULL; /* it goes on, cursors and all, as the current sub-window */
    }
    go_on(fine, now);
    go_on(&subwindows->level[COARSE], now);
    if (!heavy && subwindow != NULL) {
        subwindow->index = fine->at;
        *slot_of(fine, fine->at) = subwindow;
    }
}

bool subwindows_empty(const struct subwindows *subwindows) {
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < subwindows->level[l].n; i++)
            if (weight_of(subwindows->level[l].slot[i]) > 0)
                return false;
    return true;
}

static void take_over(struct subwindows *into, unsigned l, struct subwindow **from) {
    struct level *level = &into->level[l];
    struct subwindow **slot = slot_of(level, (*from)->index);
    if (*slot == NULL) {
        *slot = *from;
        *from = NULL;
        return;
    }
    add_to(into, level, (*from)->index, *from);
}

void subwindows_add(struct subwindows *into, struct subwindows *from) {
    for (unsigned l = 0; l < LEVELS; l++) {
        for (unsigned i = 0; i < from->level[l].n; i++)
            if (from->level[l].slot[i] != NULL)
                take_over(into, l, &from->level[l].slot[i]);
        if (from->level[l].first > into->level[l].first)
            into->level[l].first = from->level[l].first;
    }
    into->since = from->since < into->since ? from->since : into->since;
}

bool subwindows_each_tree(const struct subwindows *subwindows,
                          bool (*visit)(void *arg, const struct mcct *tree), void *arg) {
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < subwindows->level[l].n; i++) {
            const struct subwindow *subwindow = subwindows->level[l].slot[i];
            if (subwindow != NULL && subwindow->tree != NULL && !visit(arg, subwindow->tree))
                return false;
        }
    return true;
}

void subwindows_each_cell(const struct subwindows *subwindows,
                          void (*visit)(void *arg, const struct subwindows_cell *cell), void *arg) {
    for (unsigned l = 0; l < LEVELS; l++) {
        const struct level *level = &subwindows->level[l];
        for (unsigned i = 0; i < level->n; i++) {
            uint64_t weight = weight_of(level->slot[i]);
            if (weight == 0)
                continue;
            const struct subwindows_cell cell = {level->slot[i]->index * level->width, level->width,
                                                 weight};
            visit(arg, &cell);
        }
    }
}

size_t subwindows_bytes(const struct subwindows *subwindows) {
    size_t sum = 0;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < subwindows->level[l].n; i++) {
            struct mcct_stats stats = {0};
            if (subwindows->level[l].slot[i] != NULL && subwindows->level[l].slot[i]->tree != NULL)
                mcct_stats(subwindows->level[l].slot[i]->tree, &stats);
            sum += stats.bytes;
        }
    return sum;
}

/* ---- windows ---- */

static uint64_t first_of(const struct level *level, uint64_t now, uint64_t span_ns) {
    uint64_t first = (now > span_ns ? now - span_ns : 0) / level->width;
    if (first < level->first)
        first = level->first;
    return is_kept(level, first) ? first : level->at + 1 - level->n;
}

static const struct level *level_for(const struct subwindows *subwindows, uint64_t now,
                                     uint64_t span_ns) {
    const struct level *fine = &subwindows->level[FINE], *coarse = &subwindows->level[COARSE];
    if (span_ns <= SUBWINDOWS_SPAN_FINE_NS)
        return fine;
    /* a minute that is not whole may end with sub-windows that are */
    return first_of(fine, now, span_ns) * fine->width <
                   first_of(coarse, now, span_ns) * coarse->width
               ? fine
               : coarse;
}

static void add_counts(const struct subwindows *subwindows, uint64_t *counts,
                       const struct subwindow *subwindow) {
    for (unsigned i = 0; i < subwindows->params.n_counts; i++)
        counts[i] += subwindow->counts[i];
}

static uint64_t span_since(const struct subwindows *subwindows, uint64_t begin, uint64_t now) {
    begin = begin > subwindows->since ? begin : subwindows->since;
    return now > begin ? now - begin : 0;
}

bool subwindows_take(struct subwindows *subwindows, uint64_t now, uint64_t span_ns,
                     struct subwindows_span *window, uint64_t *counts) {
    return subwindows_take_between(subwindows, now, now > span_ns ? now - span_ns : 0, UINT64_MAX,
                                   window, counts);
}

bool subwindows_take_between(struct subwindows *subwindows, uint64_t now, uint64_t from,
                             uint64_t to, struct subwindows_span *window, uint64_t *counts) {
    struct level *fine = &subwindows->level[FINE];
    uint64_t span_ns = now > from ? now - from : 0;
    const struct level *level = level_for(subwindows, now, span_ns);
    uint64_t first = first_of(level, now, span_ns);
    uint64_t end = to < now ? (to + level->width - 1) / level->width : UINT64_MAX;
    const struct subwindow *last = *slot_of(fine, fine->at);
    uint64_t end_ns = end < now / level->width + 1 ? end * level->width : now;
    *window = (struct subwindows_span){
        .span_ns = span_since(subwindows, first * level->width, end_ns),
        .end_ns = end_ns,
        .tree = mcct_new(&subwindows->params.tree),
    };
    if (window->tree == NULL)
        return false;
    for (unsigned i = 0; i < level->n; i++) {
        struct subwindow *subwindow = level->slot[i];
        if (subwindow == NULL || subwindow->index < first || subwindow->index >= end ||
            subwindow == last)
            continue;
        atomic_fetch_add(&subwindow->refs, 1);
        window->subwindow[window->n++] = subwindow;
        add_counts(subwindows, counts, subwindow);
    }
    if (last != NULL && last->index >= fine->first &&
        (end == UINT64_MAX || last->index * fine->width < end_ns)) {
        add_counts(subwindows, counts, last);
        if (last->tree != NULL) /* it changes as soon as we let go */
            mcct_merge(window->tree, last->tree);
    }
    return true;
}

struct mcct *subwindows_merge(struct subwindows_span *window) {
    for (unsigned i = 0; i < window->n; i++) {
        if (window->subwindow[i]->tree != NULL)
            mcct_merge(window->tree, window->subwindow[i]->tree);
        release(window->subwindow[i]);
    }
    window->n = 0;
    return window->tree;
}
