/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed_sums.h - where the weight is that a packed tree does not keep.
 *
 * A packed tree (packed.h) drops contexts many at a time, and does not visit each. Instead all
 * weight that comes is also summed by zone and frame (zone_sums.h), and what is not kept of it is
 * known by subtraction. For a zone z and a frame f let
 *
 *     S  the sum of z and f,
 *     C  what is certain (count - error) of the contexts of frame f that are kept in z,
 *     D  what C and the D of the zones within z exceed S by, or 0,
 *     R  what S exceeds those by, or 0.
 *
 * D is certain weight of contexts that came before their zone was made: it is in the sums of the
 * zones around, and is taken from those. R is the residual (mcct_residuals()) of z and f: weight of
 * frame f that contexts below the one that names z have had, and that no kept context has.
 *
 * Proof. Let T be what contexts of frame f below the context of z have had, the sums of which are
 * in z, in zones within z, and X of it in zones around z, as z was younger. With the sum over the
 * zones c directly within z: T = own + sum T(c), where `own` is what contexts in z itself have had;
 * T(c) = sums below c + X(c); so X(z) = own + sum X(c) - S >= C + sum D(c) - S, as C <= own and, by
 * induction, D(c) <= X(c). As X(z) >= 0, D(z) <= X(z). What is reported of the subtree of z is C +
 * R + (what is reported of each c); by induction that is the sum of all S there, plus D(z); and so
 * it is at most T. At the root D is 0, and what is reported is the sum of all S: all weight of
 * frame f, unless memory for sums was short, when it is less.
 *
 * So each residual lies below its node, subtrees beside each other never report more together than
 * they had, and self weights by frame are exact. A residual never becomes smaller, but by moving
 * outwards when its zone is dissolved: what is kept in z gains as much as the sum of z does, and
 * what is dropped leaves C.
 *
 * Sums are of what went into the store. Nothing is summed before something may be dropped: until
 * then all is certain. Zones are chosen from the runs themselves: at the first, second, fourth, ...
 * and then every PACKED_SUMS_RUNS of them, as a program goes on to other parts of its code.
 */
#ifndef HCCT_PACKED_SUMS_H
#define HCCT_PACKED_SUMS_H

#include "common/tree/mcct.h"
#include "common/tree/run_log.h"
#include "common/tree/store.h"
#include "common/tree/zone_sums.h"

#define PACKED_SUMS_RUNS 32u

struct packed_sums {
    bool on;             /* weight is summed */
    uint32_t runs, next; /* runs that were summed; zones are chosen when they are so many */
    uint64_t chosen;     /* weight of runs since zones were chosen */
    uint32_t capacity;
    struct zones zones;
    struct zone_sums by_zone;
};

/* A residual, in the numbering of mcct_walk(). */
struct packed_residual {
    uint32_t node, frame;
    uint64_t weight;
};

/* What there is to see beside a store. A context that names a zone with a residual is a node, even
 * if it is not kept: so the residual stands at the same context at any time. */
struct packed_rest {
    struct packed_residual *list; /* in the order of nodes and frames */
    size_t n;
    uint64_t *path; /* a run (run.h) of those nodes and all that lead to them, without weights */
    size_t words;
    uint32_t nodes; /* of both, with the root */
};

/* capacity: the contexts that the store keeps. */
void packed_sums_init(struct packed_sums *sums, struct budget *budget, uint64_t factor,
                      uint32_t capacity);
void packed_sums_free(struct packed_sums *sums);

/* Makes zones for contexts like those of the sample. */
void packed_sums_choose(struct packed_sums *sums, const struct zone_sample *sample);

/* Weight is summed from now on, and what is in the store is all so far. Where there is no memory,
 * sums are missing. */
void packed_sums_begin(struct packed_sums *sums, const struct store *store, uint64_t unseen);

/* The log, which is one run, is about to go into the store. */
void packed_sums_add(struct packed_sums *sums, const struct run_log *log);

/* What is not in the store. The log was added to this store, and not to the sums; NULL: nothing
 * was. False: no memory. */
bool packed_sums_rest(const struct packed_sums *sums, const struct store *store, uint64_t unseen,
                      const struct run_log *log, struct packed_rest *rest);
void packed_rest_free(struct packed_rest *rest);

/* ---- the nodes of a store and of what is beside it, in order ---- */

struct packed_item {
    const struct store_item *item, *next; /* item: NULL where it is not in the store */
    const uint64_t *path;
    uint64_t word; /* of which depth and frame count */
};

static inline bool packed_item_is(const struct packed_item *it) {
    return it->word != RUN_END;
}

static inline void packed_item_next(struct packed_item *it) {
    bool stored = run_key(it->next->word) <= run_key(*it->path);
    bool both = run_key(it->next->word) == run_key(*it->path);
    it->word = stored ? it->next->word : *it->path;
    it->item = stored ? it->next : NULL;
    if (!packed_item_is(it))
        return;
    it->next += stored;
    it->path += !stored || both;
}

static inline void packed_item_first(struct packed_item *it, const struct store *store,
                                     const uint64_t *path) {
    *it = (struct packed_item){.next = store_first(store), .path = path};
    packed_item_next(it);
}

#endif
