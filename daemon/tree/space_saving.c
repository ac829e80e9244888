/*
 * space_saving.c - lazy Space Saving with weights, as the articles have it.
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
 */
#include "daemon/tree/summary.h"

#include <stdlib.h>

#include "daemon/tree/counters.h"
#include "daemon/tree/lazy_queue.h"

struct space_saving {
    struct counters counters;
    struct lazy_queue queue;
};

static void destroy(void *summary) {
    struct space_saving *ss = summary;
    lazy_queue_free(&ss->queue);
    free(ss);
}

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    struct space_saving *ss = counters_new(tree, sizeof *ss);
    if (ss == NULL)
        return NULL;
    lazy_queue_init(&ss->queue, tree);
    if (!lazy_queue_reserve(&ss->queue, 1)) {
        destroy(ss);
        return NULL;
    }
    return ss;
}

static void evict(struct space_saving *ss) {
    counters_evict(&ss->counters, lazy_queue_take_least(&ss->queue));
}

static void monitor(struct space_saving *ss, uint32_t node, uint64_t count, uint64_t error) {
    counters_monitor(&ss->counters, node, count, error);
    lazy_queue_insert(&ss->queue, node);
}

static bool reserve(struct space_saving *ss) {
    return lazy_queue_reserve(&ss->queue, ss->counters.monitored + 1);
}

static void evict_until(struct space_saving *ss, uint32_t keep) {
    while (ss->counters.monitored > keep)
        evict(ss);
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct space_saving *ss = summary;
    if (ss->counters.monitored >= ss->counters.tree->capacity || !reserve(ss))
        evict(ss);
    monitor(ss, node, weight, 0);
}

static bool shrink(void *summary) {
    struct space_saving *ss = summary;
    uint32_t before = ss->counters.monitored;
    evict_until(ss, counters_keep(&ss->counters));
    return ss->counters.monitored < before;
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct space_saving *ss = summary;
    if (!reserve(ss))
        return false;
    monitor(ss, node, count, error);
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
    .raise = counters_raise,
    .adopt = adopt,
    .trim = trim,
};
