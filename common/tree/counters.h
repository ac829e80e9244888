/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * counters.h - what the counter-based summaries have in common: how many contexts are monitored,
 * the bound for all others, and what one context costs on its way in and out.
 *
 * A kind's own structure begins with this one, so that the functions below serve in its table.
 */
#ifndef HCCT_COUNTERS_H
#define HCCT_COUNTERS_H

#include "common/tree/tree.h"

struct counters {
    struct mcct *tree;
    uint64_t unseen;          /* bound on the weight of a context that is not monitored */
    uint32_t monitored, peak; /* now, and the most there ever were */
};

/* Memory for a summary that begins with counters, its bytes charged to the tree. NULL: none. Goes
 * back by free(): the budget ends with the tree. */
void *counters_new(struct mcct *tree, size_t bytes);

/* As in the table of summary.h; `summary` begins with counters. */
uint64_t counters_unseen(const void *summary);
uint32_t counters_monitored(const void *summary);
void counters_raise(void *summary, uint64_t bound);

/* `node`, which is not monitored, is so from now on; `unseen` is added to both numbers. */
void counters_monitor(struct counters *counters, uint32_t node, uint64_t count, uint64_t error);

/* The same, with a bound on what the context may have weighed before in place of `unseen`. */
void counters_monitor_from(struct counters *counters, uint32_t node, uint64_t count, uint64_t error,
                           uint64_t bound);

/* `node` is no more; `unseen` covers its count. */
void counters_evict(struct counters *counters, uint32_t node);

/* How many contexts are to stay when memory is short: fewer than now, or as many as now, when
 * monitoring fewer is not what the tree should do. */
uint32_t counters_keep(const struct counters *counters);

#endif
