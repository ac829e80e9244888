/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * store.c - a run is merged into the front of the memory, from where all that stays goes back to
 * its end: so the next one finds room to grow towards what it is merged with.
 */
#include "common/tree/store.h"

#include <stdlib.h>
#include <string.h>

#include "common/wire/compiler.h"

#define ITEMS_MAX 0x0ffffffeu /* a tree's nodes can name so many */

void store_init(struct store *store, struct budget *budget) {
    *store = (struct store){.budget = budget};
}

void store_free(struct store *store) {
    free(store->item);
    budget_give(store->budget, store_bytes(store));
    store_init(store, store->budget);
}

static void put_end(struct store *store) {
    store->item[store->room - 1] = (struct store_item){.word = RUN_END};
}

bool store_reserve(struct store *store, size_t more, size_t spare) {
    size_t need = store->n + more + 1, room = need + need / 8;
    const struct budget *budget = store->budget;
    if (need <= store->room)
        return true;
    size_t bytes = (room - store->room) * sizeof *store->item;
    if (need > ITEMS_MAX || (budget->max != 0 && budget->max - budget->used < bytes + spare))
        return false;
    struct store_item *grown = realloc(store->item, room * sizeof *grown);
    if (grown == NULL)
        return false;
    (void)budget_take(store->budget, bytes);
    memmove(grown + room - 1 - store->n, grown + store->room - store->n - (store->room != 0),
            store->n * sizeof *grown);
    store->item = grown;
    store->room = room;
    put_end(store);
    return true;
}

bool store_copy(struct store *to, const struct store *from, size_t more) {
    if (!store_reserve(to, from->n + more, 0))
        return false;
    memcpy(to->item + to->room - 1 - from->n, store_first(from), from->n * sizeof *to->item);
    to->n = from->n;
    to->monitored = from->monitored;
    to->below = from->below;
    return true;
}

/* ---- what stays ---- */

#define FAN_BITS 12u
#define FAN      (1u << FAN_BITS) /* buckets of one pass over all counts */

/* How many of the n counts are in each bucket, as wide as 1 << shift, from `low` on. Gives how many
 * are above them all. */
static uint32_t spread(const struct store_item *item, size_t n, uint64_t low, unsigned shift,
                       uint32_t bucket[FAN]) {
    uint32_t above = 0;
    memset(bucket, 0, FAN * sizeof *bucket);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = (item[i].count - low) >> shift;
        if (hcct_likely(at < FAN))
            bucket[at]++;
        else
            above += item[i].count >= low;
    }
    return above;
}

/* The largest count that more than `keep` reach; `*ties` is how many that have just this one are
 * among the first `keep`. Most often it is a small number, which one pass finds. */
static uint64_t threshold(const struct store_item *item, size_t n, uint32_t keep, uint32_t *ties) {
    uint32_t bucket[FAN];
    uint64_t low = 0;
    unsigned shift = 0;
    uint32_t above = spread(item, n, low, shift, bucket);
    if (above > keep) {
        shift = FAN_BITS * 5; /* from the top on */
        above = spread(item, n, low, shift, bucket);
    }
    for (;;) {
        uint32_t at = FAN - 1;
        while (above + bucket[at] <= keep)
            above += bucket[at--];
        low += (uint64_t)at << shift;
        if (shift == 0)
            break;
        shift -= FAN_BITS;
        above = spread(item, n, low, shift, bucket);
    }
    *ties = keep - above;
    return low;
}

/* The items that stay go back to the end, the last first: those that stay for themselves, and of
 * the others the nearest ones above, up to the root. */
struct compaction {
    struct store_item *to;
    uint32_t caller; /* depth of the next one that is called by one that stays */
    /* by depth: bound of what went below the item of that depth that comes next */
    uint16_t below[RUN_DEPTH_MAX + 1];
};

static inline uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static inline void pass(struct compaction *compaction, struct store_item item, bool stays) {
    uint32_t depth = run_depth(item.word);
    uint32_t below = larger(item.below, compaction->below[depth]);
    bool needed = stays || depth == compaction->caller;
    if (!stays) {
        below = larger(below, minifloat_ceil(item.count));
        item.word &= ~(uint64_t)RUN_WEIGHT;
        item.count = 0;
    }
    item.below = below & 0xffff;
    compaction->below[depth] = 0;
    compaction->below[depth - 1] =
        (uint16_t)larger(compaction->below[depth - 1], needed ? 0 : below);
    compaction->to[-1] = item;
    compaction->to -= needed;
    compaction->caller = needed ? depth - 1 : compaction->caller;
}

/* Of the n items at `from`, those stay that have more than `least`, and so many of those that have
 * just this. */
static void pass_all(struct store *store, const struct store_item *from, size_t n, uint64_t least,
                     uint32_t ties) {
    struct compaction compaction = {.to = store->item + store->room - 1};
    compaction.below[0] = (uint16_t)store->below;
    for (; n > 0 && ties > 0; ties -= from[n].count == least) {
        n--;
        pass(&compaction, from[n], from[n].count >= least);
    }
    while (n-- > 0)
        pass(&compaction, from[n], from[n].count > least);
    store->below = compaction.below[0];
    store->n = (size_t)(store->item + store->room - 1 - compaction.to);
    put_end(store);
}

/* The n items at `from`, `monitored` of them, become the store's, and back to `keep`. */
static uint64_t take_items(struct store *store, const struct store_item *from, size_t n,
                           uint32_t monitored, uint32_t keep) {
    uint64_t least = 0;
    uint32_t ties = 0;
    if (monitored > keep)
        least = threshold(from, n, keep, &ties);
    store->monitored = monitored > keep ? keep : monitored;
    pass_all(store, from, n, least, ties);
    return least;
}

uint64_t store_trim(struct store *store, uint32_t keep) {
    return take_items(store, store_first(store), store->n, store->monitored, keep);
}

void store_fill(struct store *store, size_t n) {
    uint32_t monitored = 0;
    for (size_t i = 0; i < n; i++)
        monitored += store->item[i].count != 0;
    (void)take_items(store, store->item, n, monitored, UINT32_MAX);
}

/* ---- adding ---- */

/* Gives whether the context has become monitored. */
static inline bool gain(struct store_item *item, uint64_t weight, uint64_t unseen) {
    bool is_new = item->count == 0 && weight != 0;
    if (is_new) {
        uint64_t bound = minifloat_value(item->below);
        item->word |= item->below;
        item->count = (bound < unseen ? bound : unseen) & STORE_COUNT_MAX;
    }
    item->count = (item->count + weight) & STORE_COUNT_MAX;
    return is_new;
}

uint64_t store_add(struct store *store, const uint64_t *run, uint64_t unseen, uint32_t keep) {
    const struct store_item *old = store_first(store);
    struct store_item *out = store->item;
    uint32_t monitored = store->monitored;
    uint16_t below[RUN_DEPTH_MAX + 1]; /* by depth, of the item that went last */
    below[0] = (uint16_t)store->below;
    for (;;) {
        uint64_t has = run_key(old->word), comes = run_key(*run);
        if (has < comes) {
            below[run_depth(old->word)] = old->below;
            *out++ = *old++;
        } else if (comes < has && hcct_unlikely(run_is_carry(*run))) {
            monitored += gain(&out[-1], run_weight(*run++) * RUN_CARRY, unseen);
        } else if (comes < has) {
            uint32_t depth = run_depth(*run);
            below[depth] = below[depth - 1]; /* it was one of those that were not there */
            *out = (struct store_item){.word = *run & ~(uint64_t)RUN_WEIGHT, .below = below[depth]};
            monitored += gain(out++, run_weight(*run++), unseen);
        } else if (comes == run_key(RUN_END)) {
            return take_items(store, store->item, (size_t)(out - store->item), monitored, keep);
        } else {
            below[run_depth(old->word)] = old->below;
            *out = *old++;
            monitored += gain(out++, run_weight(*run++), unseen);
        }
    }
}

uint64_t store_add_known(struct store *store, const uint64_t *run) {
    struct store_item *old = store->item + store->room - 1 - store->n, *known = NULL;
    uint64_t weight = 0, largest = 0;
    for (; *run != RUN_END; run++) {
        bool carry = run_is_carry(*run);
        uint64_t more = run_weight(*run) * (carry ? RUN_CARRY : 1);
        if (!carry) {
            while (run_key(old->word) < run_key(*run))
                old++;
            bool same = run_key(old->word) == run_key(*run);
            known = same && old->count != 0 ? old : NULL;
            old += same;
            weight = 0;
        }
        weight += more;
        if (known != NULL)
            gain(known, more, 0);
        else if (weight > largest)
            largest = weight;
    }
    return largest;
}

void store_raise(struct store *store, uint64_t unseen) {
    uint32_t minifloat = minifloat_ceil(unseen);
    struct store_item *item = store->item + store->room - 1 - store->n;
    store->below = larger(store->below, minifloat);
    for (; item->word != RUN_END; item++)
        item->below = larger(item->below, minifloat) & 0xffff;
}
