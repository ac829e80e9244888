/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * space_saving.c - lazy Space Saving with weights: as the articles have it, and with a filter.
 *
 * Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in data
 * streams (ICDT 2005), in the lazy form of section 4.2 of the article that mcct.h names. Capacity
 * k = 1/epsilon. A context that is not monitored, when it gains w, takes the place of the one with
 * the least count `min`: its count is min + w, its error min. What a monitored context gains is
 * added to its node by the tree, without a call to here.
 *
 * With N all weight so far, and no memory cap met:
 *   - count - error <= true weight <= count for each monitored context;
 *   - the counts add up to N exactly, so min <= N/k, and so is each error;
 *   - a context that is not monitored weighs at most `unseen`, the largest count ever evicted,
 *     which is at most min: each context of weight above N/k is monitored.
 * `unseen` is 0 until the first eviction, and all counts are exact until then.
 *
 * Departures from the article: weights; the queue (lazy_queue.c); `unseen` is kept as a number of
 * its own, because M is not always full when contexts have been forgotten:
 *   - at the memory cap, shrink() forgets an eighth of M at once, and the places fill again. The
 *     first three lines stay true with `unseen` in place of N/k, and it says what the cap cost; it
 *     is no more than about 4/3 of N / |M|;
 *   - after a merge `unseen` begins at the sum of both (merge.c).
 *
 * The other kind here has a filter (filter.h) before it, from the moment on that M is full for the
 * first time: most trees never have one. Where contexts are many, most that Space Saving admits
 * come once or twice, and each costs an eviction. What a context that is not monitored gains is
 * added to its cell as long as the cell stays at or below `min`; then it takes the place of the
 * least, and the cell is its error. A context that is evicted leaves its count in its cell. The
 * tree need not have a node for a context in a cell (refuse), which is most of what is saved. Then
 *   - the counts add up to N at most, as one that takes the place of another exceeds it by no more
 *     than the new weight: so min <= N/k still, and errors are smaller, as only what shares a cell
 *     adds to them;
 *   - a context that is not monitored weighs at most its cell, at most `unseen`, at most min.
 * After a merge all cells are `unseen`. Where there is no memory for cells, and when they are full
 * (nanoseconds of some 60 hours at epsilon 2e-5), it is as without. While all that comes comes in
 * batches, it is the store (packed.h) that does this kind's work, with bounds for parts of the tree
 * in place of cells.
 */
#include "common/tree/summary.h"

#include <stdlib.h>

#include "common/tree/counters.h"
#include "common/tree/filter.h"
#include "common/tree/lazy_queue.h"
#include "common/tree/path_hash.h"

struct space_saving {
    struct counters counters;
    struct lazy_queue queue;
    struct filter filter;
    bool awaits_filter; /* it begins when M is full */
};

/* ---- life ---- */

static void destroy(void *summary) {
    struct space_saving *ss = summary;
    lazy_queue_free(&ss->queue);
    filter_free(&ss->filter);
    free(ss);
}

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    struct space_saving *ss = counters_new(tree, sizeof *ss);
    if (ss == NULL)
        return NULL;
    ss->awaits_filter = tree->kind->refuse != NULL;
    lazy_queue_init(&ss->queue, tree);
    if (!lazy_queue_reserve(&ss->queue, 1)) {
        destroy(ss);
        return NULL;
    }
    return ss;
}

/* ---- contexts in cells ---- */

static bool is_full(const struct space_saving *ss) {
    return ss->counters.monitored >= ss->counters.tree->capacity;
}

/* Of a context by the hash of its path; NULL: there is no filter. */
static uint32_t *cell_of(const struct space_saving *ss, uint32_t hash) {
    return ss->filter.cell != NULL ? filter_cell(&ss->filter, hash) : NULL;
}

static uint32_t *cell_of_node(const struct space_saving *ss, uint32_t node) {
    return ss->filter.cell != NULL ? cell_of(ss, *path_hash_at(ss->counters.tree, node)) : NULL;
}

/* The context of the cell gains weight, M is full. True: it may stay in the cell. */
static bool stays(struct space_saving *ss, uint32_t *cell, uint64_t weight) {
    uint64_t bound = add_saturating(filter_bound(cell, ss->counters.unseen), weight);
    if (bound > ss->queue.last) { /* which the least was, when it was last asked for */
        uint64_t least = lazy_queue_least(&ss->queue);
        counters_raise(ss, least);
        if (bound > least)
            return false;
    }
    counters_raise(ss, bound);
    filter_set(cell, bound);
    return true;
}

static bool refuse(void *summary, uint32_t hash, uint64_t weight) {
    struct space_saving *ss = summary;
    uint32_t *cell = cell_of(ss, hash);
    return cell != NULL && is_full(ss) && stays(ss, cell, weight);
}

static void expect(const void *summary, uint32_t hash) {
    const uint32_t *cell = cell_of(summary, hash);
    if (cell != NULL)
        __builtin_prefetch(cell, 1);
}

/* ---- monitored contexts ---- */

static void evict(struct space_saving *ss) {
    uint32_t node = lazy_queue_take_least(&ss->queue), *cell = cell_of_node(ss, node);
    uint64_t count = tree_count(ss->counters.tree, node);
    if (cell != NULL && count > filter_bound(cell, ss->counters.unseen))
        filter_set(cell, count);
    counters_evict(&ss->counters, node);
}

static void evict_until(struct space_saving *ss, uint32_t keep) {
    while (ss->counters.monitored > keep)
        evict(ss);
}

static bool reserve(struct space_saving *ss) {
    return lazy_queue_reserve(&ss->queue, ss->counters.monitored + 1);
}

/* `bound`: what the context may have weighed before. */
static void monitor(struct space_saving *ss, uint32_t node, uint64_t count, uint64_t error,
                    uint64_t bound) {
    counters_monitor_from(&ss->counters, node, count, error, bound);
    lazy_queue_insert(&ss->queue, node);
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct space_saving *ss = summary;
    uint32_t *cell = NULL;
    if (is_full(ss)) {
        if (ss->awaits_filter)
            (void)filter_begin(&ss->filter, ss->counters.tree, ss->counters.unseen);
        ss->awaits_filter = false;
        cell = cell_of_node(ss, node);
        if (cell != NULL && stays(ss, cell, weight))
            return;
    }
    uint64_t bound = cell != NULL ? filter_bound(cell, ss->counters.unseen) : 0;
    if (is_full(ss) || !reserve(ss))
        evict(ss);
    monitor(ss, node, weight, 0, cell != NULL ? bound : ss->counters.unseen);
}

static bool shrink(void *summary) {
    struct space_saving *ss = summary;
    uint32_t before = ss->counters.monitored;
    evict_until(ss, counters_keep(&ss->counters));
    return ss->counters.monitored < before;
}

/* ---- merging ---- */

static void raise(void *summary, uint64_t unseen) {
    struct space_saving *ss = summary;
    counters_raise(ss, unseen);
    if (ss->filter.cell != NULL)
        filter_fill(&ss->filter, ss->counters.unseen);
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct space_saving *ss = summary;
    if (!reserve(ss))
        return false;
    monitor(ss, node, count, error, ss->counters.unseen);
    return true;
}

static void trim(void *summary) {
    struct space_saving *ss = summary;
    evict_until(ss, ss->counters.tree->capacity);
}

const struct summary_kind summary_space_saving = {
    .name = "space-saving",
    .help = "1/epsilon contexts, each error at most epsilon of the total",
    .bounded = true,
    .certain = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .shrink = shrink,
    .raise = raise,
    .adopt = adopt,
    .trim = trim,
};

const struct summary_kind summary_filtered_space_saving = {
    .name = "filtered-space-saving",
    .help = "as space-saving, but what comes once evicts nothing: faster, and errors are smaller",
    .bounded = true,
    .certain = true,
    .packs = true,
    .side_bytes = PATH_HASH_BYTES,
    .side_later = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .refuse = refuse,
    .expect = expect,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .shrink = shrink,
    .raise = raise,
    .adopt = adopt,
    .trim = trim,
};
