/*
 * panes.c - two rings of panes, fine and coarse.
 *
 * A sealed pane never changes, so a window that is being summed up holds references to its panes
 * and needs no lock. The one of the minute under way does change: it is copied first when a window
 * holds it.
 */
#include "common/tree/panes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/tree/tree.h"

struct pane {
    _Atomic unsigned refs; /* its ring's, and one for each window */
    uint64_t index;        /* it begins at index * width */
    struct mcct *tree;     /* NULL: nothing else has weight */
    uint64_t counts[];
};

struct level {
    uint64_t width, at; /* ns; the index of now */
    uint64_t first;     /* older panes are not whole */
    unsigned n;
    struct pane *slot[PANES_COARSE]; /* by index modulo n */
};

enum { FINE, COARSE, LEVELS };

struct panes {
    struct panes_params params;
    uint64_t since;
    struct level level[LEVELS];
};

_Static_assert(PANES_FINE <= PANES_COARSE, "a level's slots suffice for both");

static _Atomic unsigned trees;   /* of all panes in the program */
static _Atomic unsigned sharers; /* struct panes in the program */

/* ---- one pane ---- */

static struct pane *pane_new(const struct panes *panes, uint64_t index) {
    struct pane *pane = calloc(1, sizeof *pane + panes->params.n_counts * sizeof pane->counts[0]);
    if (pane != NULL) {
        pane->refs = 1;
        pane->index = index;
    }
    return pane;
}

static void forget_tree(struct pane *pane) {
    if (pane->tree != NULL)
        atomic_fetch_sub(&trees, 1);
    mcct_free(pane->tree);
    pane->tree = NULL;
}

static void release(struct pane *pane) {
    if (pane == NULL || atomic_fetch_sub(&pane->refs, 1) > 1)
        return;
    forget_tree(pane);
    free(pane);
}

static uint64_t weight_of(const struct pane *pane) {
    struct mcct_stats stats = {0};
    if (pane != NULL && pane->tree != NULL)
        mcct_stats(pane->tree, &stats);
    return stats.total;
}

/* ---- trees, as far as they go ---- */

static struct pane **slot_of(struct level *level, uint64_t index) {
    return &level->slot[index % level->n];
}

static void miss(struct level *level, uint64_t index) {
    level->first = index + 1 > level->first ? index + 1 : level->first;
}

/* A sealed one that no window holds. */
static struct pane *oldest(struct level *level) {
    struct pane *found = NULL;
    for (unsigned i = 0; i < level->n; i++) {
        struct pane *pane = level->slot[i];
        if (pane != NULL && pane->tree != NULL && pane->index < level->at &&
            atomic_load(&pane->refs) == 1 && (found == NULL || pane->index < found->index))
            found = pane;
    }
    return found;
}

/* False: there is none in either ring. */
static bool forget_oldest(struct panes *panes) {
    for (unsigned l = LEVELS; l-- > 0;) {
        struct level *level = &panes->level[l];
        struct pane *pane = oldest(level);
        if (pane == NULL)
            continue;
        miss(level, pane->index);
        *slot_of(level, pane->index) = NULL;
        release(pane);
        return true;
    }
    return false;
}

static unsigned count_trees(const struct panes *panes) {
    unsigned n = 0;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < panes->level[l].n; i++)
            n += panes->level[l].slot[i] != NULL && panes->level[l].slot[i]->tree != NULL;
    return n;
}

/* One more tree is no more than our share. There is enough for all until half of them are there. */
static bool is_fair(const struct panes *panes) {
    unsigned n = atomic_load(&trees);
    if (n < PANES_TREES_MAX / 2)
        return true;
    return n < PANES_TREES_MAX && count_trees(panes) < PANES_TREES_MAX / atomic_load(&sharers);
}

static struct mcct *try_new_tree(const struct panes *panes) {
    struct mcct_params params = panes->params.tree;
    params.max_bytes /= PANES_TREES;
    struct mcct *tree = is_fair(panes) ? mcct_new(&params) : NULL;
    if (tree != NULL)
        atomic_fetch_add(&trees, 1);
    return tree;
}

static struct mcct *new_tree(struct panes *panes) {
    struct mcct *tree = try_new_tree(panes);
    while (tree == NULL && forget_oldest(panes))
        tree = try_new_tree(panes);
    return tree;
}

/* `pane` gains all of `from`. False: no memory. */
static bool gain(struct panes *panes, struct pane *pane, const struct pane *from) {
    if (from->tree != NULL && pane->tree == NULL)
        pane->tree = new_tree(panes);
    if (from->tree != NULL && pane->tree == NULL)
        return false;
    if (from->tree != NULL)
        mcct_merge(pane->tree, from->tree); /* for what finds no memory `unseen` rises */
    for (unsigned i = 0; i < panes->params.n_counts; i++)
        pane->counts[i] += from->counts[i];
    return true;
}

/* ---- rings ---- */

/* The pane of that index, to be changed. NULL: no memory. */
static struct pane *writable(struct panes *panes, struct level *level, uint64_t index) {
    struct pane **slot = slot_of(level, index), *was = *slot;
    if (was != NULL && was->index == index && atomic_load(&was->refs) == 1)
        return was;
    struct pane *pane = pane_new(panes, index);
    if (pane != NULL && was != NULL && was->index == index && !gain(panes, pane, was)) {
        release(pane);
        pane = NULL;
    }
    if (pane == NULL)
        return NULL;
    release(was);
    *slot = pane;
    return pane;
}

/* The level's pane of that index gains `from`. */
static void add_to(struct panes *panes, struct level *level, uint64_t index,
                   const struct pane *from) {
    struct pane *pane = writable(panes, level, index);
    if (pane == NULL || !gain(panes, pane, from))
        miss(level, index);
}

/* NULL: no memory. */
static struct pane *current(struct panes *panes) {
    return writable(panes, &panes->level[FINE], panes->level[FINE].at);
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

struct panes *panes_new(const struct panes_params *params, uint64_t now) {
    struct panes *panes = calloc(1, sizeof *panes);
    if (panes == NULL)
        return NULL;
    atomic_fetch_add(&sharers, 1);
    panes->params = *params;
    panes->since = now;
    panes->level[FINE] =
        (struct level){.width = PANES_FINE_NS, .at = now / PANES_FINE_NS, .n = PANES_FINE};
    panes->level[COARSE] =
        (struct level){.width = PANES_COARSE_NS, .at = now / PANES_COARSE_NS, .n = PANES_COARSE};
    return panes;
}

void panes_free(struct panes *panes) {
    if (panes == NULL)
        return;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < panes->level[l].n; i++)
            release(panes->level[l].slot[i]);
    atomic_fetch_sub(&sharers, 1);
    free(panes);
}

struct mcct *panes_tree(struct panes *panes) {
    struct pane *pane = current(panes);
    if (pane == NULL)
        return NULL;
    if (pane->tree == NULL)
        pane->tree = new_tree(panes);
    return pane->tree;
}

void panes_miss(struct panes *panes) {
    for (unsigned l = 0; l < LEVELS; l++)
        miss(&panes->level[l], panes->level[l].at);
}

bool panes_count(struct panes *panes, const uint64_t *counts) {
    struct pane *pane = current(panes);
    for (unsigned i = 0; pane != NULL && i < panes->params.n_counts; i++)
        pane->counts[i] += counts[i];
    return pane != NULL;
}

bool panes_due(const struct panes *panes, uint64_t now) {
    return now / PANES_FINE_NS > panes->level[FINE].at;
}

bool panes_credited(const struct panes *panes) {
    const struct level *fine = &panes->level[FINE];
    return weight_of(fine->slot[fine->at % fine->n]) > 0;
}

/* To its minute's pane. */
static void pass_on(struct panes *panes, const struct pane *sealed, uint64_t now) {
    struct level *coarse = &panes->level[COARSE];
    uint64_t index = sealed->index * PANES_FINE_NS / PANES_COARSE_NS;
    if (index + coarse->n <= now / coarse->width)
        return;
    add_to(panes, coarse, index, sealed);
}

void panes_advance(struct panes *panes, uint64_t now) {
    struct level *fine = &panes->level[FINE];
    struct pane **slot = slot_of(fine, fine->at), *pane = *slot;
    if (!panes_due(panes, now))
        return;
    bool heavy = weight_of(pane) > 0;
    if (heavy) {
        mcct_close_cursors(pane->tree);
        pass_on(panes, pane, now);
    } else {
        *slot = NULL; /* it goes on, cursors and all, as the pane of now */
    }
    go_on(fine, now);
    go_on(&panes->level[COARSE], now);
    if (!heavy && pane != NULL) {
        pane->index = fine->at;
        *slot_of(fine, fine->at) = pane;
    }
}

bool panes_empty(const struct panes *panes) {
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < panes->level[l].n; i++)
            if (weight_of(panes->level[l].slot[i]) > 0)
                return false;
    return true;
}

static void take_over(struct panes *into, unsigned l, struct pane **from) {
    struct level *level = &into->level[l];
    struct pane **slot = slot_of(level, (*from)->index);
    if (*slot == NULL) {
        *slot = *from;
        *from = NULL;
        return;
    }
    add_to(into, level, (*from)->index, *from);
}

void panes_add(struct panes *into, struct panes *from) {
    for (unsigned l = 0; l < LEVELS; l++) {
        for (unsigned i = 0; i < from->level[l].n; i++)
            if (from->level[l].slot[i] != NULL)
                take_over(into, l, &from->level[l].slot[i]);
        if (from->level[l].first > into->level[l].first)
            into->level[l].first = from->level[l].first;
    }
    into->since = from->since < into->since ? from->since : into->since;
}

bool panes_each_tree(const struct panes *panes, bool (*visit)(void *arg, const struct mcct *tree),
                     void *arg) {
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < panes->level[l].n; i++) {
            const struct pane *pane = panes->level[l].slot[i];
            if (pane != NULL && pane->tree != NULL && !visit(arg, pane->tree))
                return false;
        }
    return true;
}

size_t panes_bytes(const struct panes *panes) {
    size_t sum = 0;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < panes->level[l].n; i++) {
            struct mcct_stats stats = {0};
            if (panes->level[l].slot[i] != NULL && panes->level[l].slot[i]->tree != NULL)
                mcct_stats(panes->level[l].slot[i]->tree, &stats);
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

static const struct level *level_for(const struct panes *panes, uint64_t now, uint64_t span_ns) {
    const struct level *fine = &panes->level[FINE], *coarse = &panes->level[COARSE];
    if (span_ns <= PANES_SPAN_FINE_NS)
        return fine;
    /* a minute that is not whole may end with panes that are */
    return first_of(fine, now, span_ns) * fine->width <
                   first_of(coarse, now, span_ns) * coarse->width
               ? fine
               : coarse;
}

static void add_counts(const struct panes *panes, uint64_t *counts, const struct pane *pane) {
    for (unsigned i = 0; i < panes->params.n_counts; i++)
        counts[i] += pane->counts[i];
}

static uint64_t span_since(const struct panes *panes, uint64_t begin, uint64_t now) {
    begin = begin > panes->since ? begin : panes->since;
    return now > begin ? now - begin : 0;
}

bool panes_take(struct panes *panes, uint64_t now, uint64_t span_ns, struct panes_window *window,
                uint64_t *counts) {
    struct level *fine = &panes->level[FINE];
    const struct level *level = level_for(panes, now, span_ns);
    uint64_t first = first_of(level, now, span_ns);
    const struct pane *last = *slot_of(fine, fine->at);
    *window = (struct panes_window){
        .span_ns = span_since(panes, first * level->width, now),
        .tree = mcct_new(&panes->params.tree),
    };
    if (window->tree == NULL)
        return false;
    for (unsigned i = 0; i < level->n; i++) {
        struct pane *pane = level->slot[i];
        if (pane == NULL || pane->index < first || pane == last)
            continue;
        atomic_fetch_add(&pane->refs, 1);
        window->pane[window->n++] = pane;
        add_counts(panes, counts, pane);
    }
    if (last != NULL && last->index >= fine->first) {
        add_counts(panes, counts, last);
        if (last->tree != NULL) /* it changes as soon as we let go */
            mcct_merge(window->tree, last->tree);
    }
    return true;
}

struct mcct *panes_merge(struct panes_window *window) {
    for (unsigned i = 0; i < window->n; i++) {
        if (window->pane[i]->tree != NULL)
            mcct_merge(window->tree, window->pane[i]->tree);
        release(window->pane[i]);
    }
    window->n = 0;
    return window->tree;
}
