/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * counters.c - the bookkeeping that counters.h promises.
 */
#include "common/tree/counters.h"

#include <stdlib.h>

#define SHRINK_PART  8u  /* of the monitored contexts go when memory runs short */
#define SHRINK_FLOOR 16u /* but this part of the most there ever were stays */

void *counters_new(struct mcct *tree, size_t bytes) {
    struct counters *counters = budget_take(&tree->budget, bytes) ? calloc(1, bytes) : NULL;
    if (counters != NULL)
        counters->tree = tree;
    return counters;
}

uint64_t counters_unseen(const void *summary) {
    return ((const struct counters *)summary)->unseen;
}

uint32_t counters_monitored(const void *summary) {
    return ((const struct counters *)summary)->monitored;
}

void counters_raise(void *summary, uint64_t bound) {
    struct counters *counters = summary;
    if (bound > counters->unseen)
        counters->unseen = bound;
}

void counters_monitor(struct counters *counters, uint32_t node, uint64_t count, uint64_t error) {
    counters_monitor_from(counters, node, count, error, counters->unseen);
}

void counters_monitor_from(struct counters *counters, uint32_t node, uint64_t count, uint64_t error,
                           uint64_t bound) {
    tree_monitor(counters->tree, node, add_saturating(count, bound), add_saturating(error, bound));
    counters->monitored++;
    if (counters->monitored > counters->peak)
        counters->peak = counters->monitored;
}

void counters_evict(struct counters *counters, uint32_t node) {
    counters_raise(counters, tree_count(counters->tree, node));
    tree_forget(counters->tree, node);
    counters->monitored--;
}

/* No further than a part of the largest M: when it is a stack of a million frames that fills the
 * memory, the hottest contexts must not go for it. */
uint32_t counters_keep(const struct counters *counters) {
    uint32_t keep = counters->monitored - counters->monitored / SHRINK_PART;
    return keep < counters->peak / SHRINK_FLOOR ? counters->monitored : keep;
}
