/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * exact.c - every context that ever had weight is monitored: the whole calling context tree, and
 * the oracle of the other summaries.
 *
 * Errors are 0 unless a merge had to leave contexts out for want of memory.
 */
#include "common/tree/summary.h"

#include <stdlib.h>

#include "common/tree/counters.h"

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    return counters_new(tree, sizeof(struct counters));
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    counters_monitor(summary, node, weight, 0);
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    counters_monitor(summary, node, count, error);
    return true;
}

static void trim(void *summary) {
    (void)summary; /* all stay */
}

const struct summary_kind summary_exact = {
    .name = "exact",
    .help = "every context, in memory that grows with the run",
    .certain = true,
    .packs = true,
    .create = create,
    .destroy = free,
    .update = update,
    .unseen = counters_unseen,
    .monitored = counters_monitored,
    .raise = counters_raise,
    .adopt = adopt,
    .trim = trim,
};
