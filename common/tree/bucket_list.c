/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bucket_list.c - Space Saving with the ordered list of buckets, the Stream-Summary.
 *
 * Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in data
 * streams (ICDT 2005). All contexts of one count hang in one bucket, the buckets in a list by
 * rising count. A context that gains leaves its bucket for the next, which is made if there is none
 * of its new count; the victim is any context of the first bucket. The 2015 article's measure for
 * its lazy queue (space_saving.c): every gain moves an entry, where the lazy queue adds to a
 * number.
 *
 * The bounds are those of space_saving.c, word by word: what differs is only how the least count is
 * found, and which of several contexts with that count goes.
 *
 * Cost. With weight 1 each step is constant time, as in the paper. A weight w moves the entry past
 * all buckets between its old and its new count, one by one: at most min(w, number of buckets)
 * steps, and a context that is new begins at the first bucket. With weights that all differ each
 * entry has a bucket to itself, and a step may read all of M: for weights, use the lazy queue.
 *
 * Departures from the paper: weights; `unseen`, shrink() and merging as in space_saving.c; no hash
 * table, as the tree finds the context. What is kept of a context, and the bucket that comes with
 * it (there are never more buckets than contexts), stands in 32 bytes beside its node, so that
 * nothing here can run out of memory. After a merge, which has changed many counts at once, all
 * entries are sorted anew.
 */
#include "common/tree/summary.h"

#include <stdlib.h>

#include "common/tree/counters.h"

struct cell {
    /* of the node with this index, when it is monitored */
    uint32_t next, prev; /* in its bucket, 0 at the ends */
    uint32_t bucket;
    /* the bucket with this index, when it is in use; else `above` links the free ones */
    uint32_t first; /* node */
    uint32_t above, below;
    uint64_t count;
};

_Static_assert(sizeof(struct cell) == 32, "a cell takes as much as a node");

struct bucket_list {
    struct counters counters;
    uint32_t least;       /* bucket, 0: none */
    uint32_t free, fresh; /* buckets given back; the last one ever used */
    uint32_t loose;       /* adopted nodes that have no bucket yet, through `next` */
};

static struct cell *at(const struct bucket_list *list, uint32_t index) {
    return node_pool_beside(&list->counters.tree->pool, index, sizeof(struct cell));
}

/* ---- buckets ---- */

/* Directly above `below`; 0: below all. */
static uint32_t new_bucket(struct bucket_list *list, uint32_t below, uint64_t count) {
    uint32_t bucket = list->free;
    if (bucket != 0)
        list->free = at(list, bucket)->above;
    else
        bucket = ++list->fresh;
    struct cell *b = at(list, bucket);
    b->first = 0;
    b->count = count;
    b->below = below;
    b->above = below != 0 ? at(list, below)->above : list->least;
    if (b->above != 0)
        at(list, b->above)->below = bucket;
    if (below != 0)
        at(list, below)->above = bucket;
    else
        list->least = bucket;
    return bucket;
}

static void drop_bucket(struct bucket_list *list, uint32_t bucket) {
    struct cell *b = at(list, bucket);
    if (b->above != 0)
        at(list, b->above)->below = b->below;
    if (b->below != 0)
        at(list, b->below)->above = b->above;
    else
        list->least = b->above;
    b->above = list->free;
    list->free = bucket;
}

static void hang(struct bucket_list *list, uint32_t bucket, uint32_t node) {
    struct cell *n = at(list, node), *b = at(list, bucket);
    n->bucket = bucket;
    n->prev = 0;
    n->next = b->first;
    if (n->next != 0)
        at(list, n->next)->prev = node;
    b->first = node;
}

/* Gives the bucket it hung in, or the one below (0: none) if that is gone with it. */
static uint32_t unhang(struct bucket_list *list, uint32_t node) {
    struct cell *n = at(list, node), *b = at(list, n->bucket);
    uint32_t bucket = n->bucket;
    if (n->next != 0)
        at(list, n->next)->prev = n->prev;
    if (n->prev != 0)
        at(list, n->prev)->next = n->next;
    else
        b->first = n->next;
    if (b->first != 0)
        return bucket;
    uint32_t below = b->below;
    drop_bucket(list, bucket);
    return below;
}

/* Into the bucket of its count, looked for from `below` (0: from the least) upwards. */
static void place(struct bucket_list *list, uint32_t below, uint32_t node) {
    uint64_t count = tree_count(list->counters.tree, node);
    uint32_t above = below != 0 ? at(list, below)->above : list->least;
    for (; above != 0 && at(list, above)->count < count; above = at(list, above)->above)
        below = above;
    if (above == 0 || at(list, above)->count != count)
        above = new_bucket(list, below, count);
    hang(list, above, node);
}

/* ---- sorting, after a merge ---- */

/* Both rising by count, through `next`. */
static uint32_t merge_chains(const struct bucket_list *list, uint32_t a, uint32_t b) {
    const struct mcct *tree = list->counters.tree;
    uint32_t first = 0, *end = &first;
    while (a != 0 && b != 0) {
        uint32_t *less = tree_count(tree, b) < tree_count(tree, a) ? &b : &a;
        *end = *less;
        end = &at(list, *less)->next;
        *less = *end;
    }
    *end = a != 0 ? a : b;
    return first;
}

/* By merging runs of lengths that are powers of two, as a counter carries: no memory is needed. */
static uint32_t sort_chain(const struct bucket_list *list, uint32_t chain) {
    uint32_t run[32] = {0}, sorted = 0;
    while (chain != 0) {
        uint32_t one = chain;
        unsigned i = 0;
        chain = at(list, chain)->next;
        at(list, one)->next = 0;
        for (; run[i] != 0; run[i++] = 0)
            one = merge_chains(list, run[i], one);
        run[i] = one;
    }
    for (unsigned i = 0; i < 32; i++)
        sorted = merge_chains(list, run[i], sorted);
    return sorted;
}

/* All entries out of their buckets, and with the loose ones in one chain. */
static uint32_t take_all(struct bucket_list *list) {
    uint32_t chain = list->loose;
    list->loose = 0;
    while (list->least != 0) {
        uint32_t node = at(list, list->least)->first, last = node;
        while (at(list, last)->next != 0)
            last = at(list, last)->next;
        at(list, last)->next = chain;
        chain = node;
        drop_bucket(list, list->least);
    }
    return chain;
}

static void sort(struct bucket_list *list) {
    uint32_t chain = sort_chain(list, take_all(list)), highest = 0;
    while (chain != 0) {
        uint32_t next = at(list, chain)->next;
        uint64_t count = tree_count(list->counters.tree, chain);
        if (highest == 0 || at(list, highest)->count != count)
            highest = new_bucket(list, highest, count);
        hang(list, highest, chain);
        chain = next;
    }
}

/* ---- Space Saving ---- */

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    return counters_new(tree, sizeof(struct bucket_list));
}

/* In the midst of a merge the order may be that from before it: then one goes that was the least
 * once, and `unseen` covers it all the same. */
static void evict_until(struct bucket_list *list, uint32_t keep) {
    while (list->counters.monitored > keep) {
        if (list->loose != 0)
            sort(list);
        uint32_t node = at(list, list->least)->first;
        unhang(list, node);
        counters_evict(&list->counters, node);
    }
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct bucket_list *list = summary;
    evict_until(list, list->counters.tree->capacity - 1);
    counters_monitor(&list->counters, node, weight, 0);
    place(list, 0, node);
}

static void gain(void *summary, uint32_t node) {
    struct bucket_list *list = summary;
    place(list, unhang(list, node), node);
}

static bool shrink(void *summary) {
    struct bucket_list *list = summary;
    uint32_t before = list->counters.monitored;
    evict_until(list, counters_keep(&list->counters));
    return list->counters.monitored < before;
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct bucket_list *list = summary;
    counters_monitor(&list->counters, node, count, error);
    at(list, node)->next = list->loose;
    list->loose = node;
    return true;
}

static void trim(void *summary) {
    struct bucket_list *list = summary;
    sort(list);
    evict_until(list, list->counters.tree->capacity);
}

const struct summary_kind summary_space_saving_list = {
    .name = "space-saving-list",
    .help = "as space-saving, by an ordered list of buckets: slower, for comparison",
    .bounded = true,
    .certain = true,
    .side_bytes = sizeof(struct cell),
    .create = create,
    .destroy = free,
    .update = update,
    .gain = gain,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .shrink = shrink,
    .raise = counters_raise,
    .adopt = adopt,
    .trim = trim,
};
