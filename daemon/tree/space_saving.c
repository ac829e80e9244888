/*
 * space_saving.c - lazy Space Saving with weights.
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

#include "daemon/tree/lazy_queue.h"

#define SHRINK_PART  8u  /* of the monitored contexts go when memory runs short */
#define SHRINK_FLOOR 16u /* but this part of the most there ever were stays */

struct space_saving {
    struct mcct *tree;
    struct lazy_queue queue;
    uint64_t unseen;
    uint32_t capacity, monitored, peak;
};

static void destroy(void *summary) {
    struct space_saving *ss = summary;
    lazy_queue_free(&ss->queue);
    free(ss);
}

static void *create(struct mcct *tree, uint32_t capacity) {
    struct space_saving *ss = calloc(1, sizeof *ss);
    if (ss == NULL)
        return NULL;
    ss->tree = tree;
    ss->capacity = capacity;
    lazy_queue_init(&ss->queue, tree);
    if (!budget_take(&tree->budget, sizeof *ss) || !lazy_queue_reserve(&ss->queue, 1)) {
        destroy(ss);
        return NULL;
    }
    return ss;
}

static void raise_unseen(void *summary, uint64_t bound) {
    struct space_saving *ss = summary;
    if (bound > ss->unseen)
        ss->unseen = bound;
}

static void evict(struct space_saving *ss) {
    uint32_t least = lazy_queue_take_least(&ss->queue);
    raise_unseen(ss, tree_count(ss->tree, least));
    tree_forget(ss->tree, least);
    ss->monitored--;
}

static void monitor(struct space_saving *ss, uint32_t node, uint64_t count, uint64_t error) {
    tree_monitor(ss->tree, node, add_saturating(count, ss->unseen),
                 add_saturating(error, ss->unseen));
    lazy_queue_insert(&ss->queue, node);
    ss->monitored++;
    if (ss->monitored > ss->peak)
        ss->peak = ss->monitored;
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct space_saving *ss = summary;
    if (ss->monitored >= ss->capacity || !lazy_queue_reserve(&ss->queue, ss->monitored + 1))
        evict(ss);
    monitor(ss, node, weight, 0);
}

static uint64_t unseen(const void *summary) {
    return ((const struct space_saving *)summary)->unseen;
}

static uint32_t monitored(const void *summary) {
    return ((const struct space_saving *)summary)->monitored;
}

/* No further than a part of the largest M: when it is a stack of a million frames that fills the
 * memory, the hottest contexts must not go for it. */
static bool shrink(void *summary) {
    struct space_saving *ss = summary;
    uint32_t keep = ss->monitored - ss->monitored / SHRINK_PART;
    if (keep == ss->monitored || keep < ss->peak / SHRINK_FLOOR)
        return false;
    while (ss->monitored > keep)
        evict(ss);
    return true;
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct space_saving *ss = summary;
    if (!lazy_queue_reserve(&ss->queue, ss->monitored + 1))
        return false;
    monitor(ss, node, count, error);
    return true;
}

static void trim(void *summary) {
    struct space_saving *ss = summary;
    while (ss->monitored > ss->capacity)
        evict(ss);
}

const struct summary_kind summary_space_saving = {
    .name = "space-saving",
    .help = "1/epsilon contexts, each error at most epsilon of the total",
    .bounded = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .unseen = unseen,
    .monitored = monitored,
    .shrink = shrink,
    .raise = raise_unseen,
    .adopt = adopt,
    .trim = trim,
};
