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

/* Which sub-windows are those of a part: minutes that are over by the border, and after it those of
 * two seconds. So no moment is in two of them. */
struct cover {
    const struct subwindows_part *part;
    uint64_t now, border; /* UINT64_MAX: minutes alone, the one under way among them */
};

static uint64_t kept_since(const struct level *level) {
    uint64_t first = level->at + 1 > level->n ? level->at + 1 - level->n : 0;
    return (first > level->first ? first : level->first) * level->width;
}

static uint64_t round_down(uint64_t ns, uint64_t width) {
    return ns / width * width;
}

static uint64_t round_up(uint64_t ns, uint64_t width) {
    return ns > UINT64_MAX - width ? UINT64_MAX : round_down(ns + width - 1, width);
}

static uint64_t border_of(const struct subwindows *subwindows, uint64_t now, uint64_t from) {
    uint64_t fine = kept_since(&subwindows->level[FINE]);
    uint64_t coarse = kept_since(&subwindows->level[COARSE]);
    uint64_t whole =
        round_up(fine, SUBWINDOWS_COARSE_NS); /* from there on all fine ones are there */
    bool near = from >= now || now - from <= SUBWINDOWS_SPAN_FINE_NS;
    if (whole <= now)
        return coarse >= whole || (near && from < whole) ? fine : whole;
    return near || fine < coarse ? fine : UINT64_MAX;
}

/* Where minutes end. */
static uint64_t minutes_end(const struct cover *cover) {
    return cover->border == UINT64_MAX ? UINT64_MAX
                                       : round_down(cover->border, SUBWINDOWS_COARSE_NS);
}

static bool is_covered(const struct cover *cover, uint64_t begin, uint64_t end) {
    const struct subwindows_part *part = cover->part;
    return end > part->least_ns && (begin < part->to_ns && end > part->from_ns) != part->rest;
}

static bool is_taken(const struct cover *cover, const struct level *level,
                     const struct subwindow *subwindow) {
    uint64_t begin = subwindow->index * level->width, end = begin + level->width;
    bool fine = level->width == SUBWINDOWS_FINE_NS;
    return begin >= kept_since(level) &&
           (fine ? begin >= cover->border : end <= minutes_end(cover)) &&
           is_covered(cover, begin, end);
}

/* What is credited now is in no minute yet. */
static bool is_now_taken(const struct cover *cover, const struct level *fine) {
    uint64_t width = cover->border == UINT64_MAX ? SUBWINDOWS_COARSE_NS : SUBWINDOWS_FINE_NS;
    uint64_t begin = round_down(fine->at * fine->width, width);
    return fine->at >= fine->first && is_covered(cover, begin, begin + width);
}

/* ---- how long that is ---- */

static uint64_t latest(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t width_at(const struct cover *cover, uint64_t ns) {
    return ns >= cover->border ? SUBWINDOWS_FINE_NS : SUBWINDOWS_COARSE_NS;
}

/* Where the part begins, in what is kept. */
static uint64_t begin_of(const struct subwindows *subwindows, const struct cover *cover,
                         uint64_t from) {
    uint64_t coarse = kept_since(&subwindows->level[COARSE]), minutes = minutes_end(cover);
    uint64_t first = coarse < minutes ? coarse : cover->border;
    uint64_t width = width_at(cover, from), begin = latest(first, round_down(from, width));
    if (begin >= minutes && begin < cover->border)
        begin = cover->border;
    return latest(begin, subwindows->since);
}

static uint64_t end_of(const struct cover *cover, uint64_t to) {
    uint64_t end = to > 0 ? round_up(to, width_at(cover, to - 1)) : 0;
    return end < cover->now ? end : cover->now;
}

static uint64_t length(uint64_t begin, uint64_t end) {
    return end > begin ? end - begin : 0;
}

static void measure(const struct subwindows *subwindows, const struct cover *cover,
                    struct subwindows_span *window) {
    const struct subwindows_part *part = cover->part;
    uint64_t from = latest(part->from_ns, part->least_ns);
    uint64_t begin = begin_of(subwindows, cover, from), end = end_of(cover, part->to_ns);
    uint64_t minutes = minutes_end(cover), all = begin_of(subwindows, cover, part->least_ns);
    window->end_ns = part->rest ? cover->now : end;
    window->span_ns = length(begin, end);
    if (part->rest) {
        window->span_ns = length(all, cover->now) - length(latest(begin, all), end);
        if (all < minutes)
            window->span_ns -= length(minutes, cover->border);
    }
}

/* ---- taken ---- */

static void add_counts(const struct subwindows *subwindows, uint64_t *counts,
                       const struct subwindow *subwindow) {
    for (unsigned i = 0; i < subwindows->params.n_counts; i++)
        counts[i] += subwindow->counts[i];
}

static void take_level(const struct subwindows *subwindows, const struct cover *cover,
                       const struct level *level, struct subwindows_span *window,
                       uint64_t *counts) {
    const struct level *fine = &subwindows->level[FINE];
    const struct subwindow *last = fine->slot[fine->at % fine->n];
    for (unsigned i = 0; i < level->n; i++) {
        struct subwindow *subwindow = level->slot[i];
        if (subwindow == NULL || subwindow == last || !is_taken(cover, level, subwindow))
            continue;
        atomic_fetch_add(&subwindow->refs, 1);
        window->subwindow[window->n++] = subwindow;
        add_counts(subwindows, counts, subwindow);
    }
}

bool subwindows_take(struct subwindows *subwindows, uint64_t now,
                     const struct subwindows_part *part, struct subwindows_span *window,
                     uint64_t *counts) {
    struct level *fine = &subwindows->level[FINE];
    const struct subwindow *last = *slot_of(fine, fine->at);
    const struct cover cover = {part, now, border_of(subwindows, now, part->from_ns)};
    *window = (struct subwindows_span){.tree = mcct_new(&subwindows->params.tree)};
    if (window->tree == NULL)
        return false;
    measure(subwindows, &cover, window);
    for (unsigned l = 0; l < LEVELS; l++)
        take_level(subwindows, &cover, &subwindows->level[l], window, counts);
    if (last != NULL && is_now_taken(&cover, fine)) {
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
