/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * store.h - the contexts of a tree in order, each with its count: what a run (run.h) goes into.
 *
 * Items are in the order of a run. An item takes sixteen bytes, where a node takes thirty-two, and
 * has no links: adding a run reads both once, from beginning to end, which memory does fastest.
 * Contexts can't be looked up.
 *
 * An evicted context adds its count to `below` of its nearest kept caller: `below` is the largest
 * weight that a context which is missing under that item can have had. So a context that comes back
 * gets the bound of its own part of the tree, and none in a part that nothing was evicted from.
 */
#ifndef HCCT_STORE_H
#define HCCT_STORE_H

#include "common/tree/budget.h"
#include "common/tree/minifloat.h"
#include "common/tree/run.h"

#define STORE_COUNT_MAX ((UINT64_C(1) << 48) - 1)

struct store_item {
    uint64_t word;       /* as of a run, with the error (minifloat.h) in place of the weight */
    uint64_t count : 48; /* 0: not monitored, but some that it calls are */
    uint64_t below : 16; /* bound (minifloat.h) of what is missing under it, and of itself where it
                          * is not monitored */
};

_Static_assert(sizeof(struct store_item) == 16, "four items fill a cache line");

struct store {
    struct budget *budget;
    struct store_item *item; /* the last ones of `room` are in use, the very last is the end */
    size_t n, room;
    uint32_t monitored;
    uint32_t below; /* the root's */
};

void store_init(struct store *store, struct budget *budget);
void store_free(struct store *store);

static inline size_t store_bytes(const struct store *store) {
    return store->room * sizeof *store->item;
}

static inline const struct store_item *store_first(const struct store *store) {
    return store->item + store->room - 1 - store->n;
}

static inline struct store_item store_item_of(uint32_t depth, uint32_t frame, uint64_t count,
                                              uint64_t error) {
    return (struct store_item){.word = run_word(depth, frame, minifloat_ceil(error)),
                               .count = count};
}

/* No larger than the count, nor than `unseen`. */
static inline uint64_t store_error(const struct store_item *item, uint64_t unseen) {
    uint64_t error = minifloat_value(run_weight(item->word));
    error = error < unseen ? error : unseen;
    return error < item->count ? error : item->count;
}

/* So many contexts can be added. False: there is no memory, or the budget would be used up but for
 * `spare` bytes. */
bool store_reserve(struct store *store, size_t more, size_t spare);

/* `to`, which is empty, is the same as `from`, and so many contexts can be added. False: there is
 * no memory. */
bool store_copy(struct store *to, const struct store *from, size_t more);

/* Where items can be written, in order, to fill a store that is empty. */
static inline struct store_item *store_front(struct store *store) {
    return store->item;
}

/* So many have been written there. */
void store_fill(struct store *store, size_t n);

/* Adds a run, for all words of which there is room (store_reserve). A context with weight that was
 * not monitored is monitored from now on: its bound, `unseen` at most, is in its count and in its
 * error. Then the contexts with the least counts are evicted until `keep` are left. Returns the
 * largest count that was evicted, 0: none was. No count may come above STORE_COUNT_MAX. */
uint64_t store_add(struct store *store, const uint64_t *run, uint64_t unseen, uint32_t keep);

/* Adds the weights of a run to contexts that are monitored already. Returns the largest weight of
 * the run's other contexts. */
uint64_t store_add_known(struct store *store, const uint64_t *run);

/* Evicts the contexts with the least counts until `keep` are left. Returns the largest count that
 * was evicted, 0: none was. */
uint64_t store_trim(struct store *store, uint32_t keep);

/* From now on each bound is `unseen` at least: a context that is not monitored may have had that
 * much. */
void store_raise(struct store *store, uint64_t unseen);

#endif
