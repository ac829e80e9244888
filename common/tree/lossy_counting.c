/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lossy_counting.c - Lossy Counting with weights.
 *
 * Manku, Motwani: Approximate frequency counts over data streams (VLDB 2002), section 4.2. The
 * stream is cut into windows; an entry is a frequency f and what may have been missed before it was
 * made, delta; at the end of window number b the entries with f + delta <= b go.
 *
 * In this project's terms count = f + delta and error = delta: the paper's f <= true <= f + delta
 * is count - error <= true <= count. `unseen` is the paper's b, the bound for whatever is not
 * monitored, and so the delta of an entry made now. What a monitored context gains is added to its
 * count by the tree without a call. With N all weight so far, k = 1/epsilon, and no memory cap met:
 *   - unseen <= N/k, and so is each error: each context of weight above N/k is monitored;
 *   - the windows that ended had weights W1, W2 ... Wb, the last Wb: at most
 *     k (1 + ln((W1 + ... + Wb) / Wb)) contexts are monitored just after a window, and no more than
 *     k others until the next ends. For weights that are alike that is the paper's
 *     (1/epsilon) log(epsilon N). Not `bounded`: no multiple of 1/epsilon suffices.
 *     Why: an entry made in the j-th last window has since then gained more than the epsilonth part
 *     of S_j, the weight of the last j windows; all entries made since then have gained at most S_j
 *     together; summed up by parts, the number is at most k (1 + sum over j of 1 - S_j / S_(j+1)).
 *
 * Departures from the paper:
 *   - weights. A window ends after k credits, not after weight k: else each credit of a thousand
 *     nanoseconds would end many. The bound that an ended window leaves is the floor of N/k, where
 *     the paper has its number b; for weight 1 both are the same;
 *   - a window ends at the first credit after its k that goes to a context that is not monitored:
 *     until then nothing is added that could go;
 *   - at the memory cap shrink() forgets the eighth with the least counts, and `unseen` rises to
 *     the largest of them;
 *   - after a merge `unseen` begins at the sum of both (merge.c), which is at most N/k again.
 */
#include "common/tree/summary.h"

#include <stdlib.h>

#include "common/tree/counters.h"
#include "common/tree/node_list.h"

struct lossy_counting {
    struct counters counters;
    struct node_list list;
    uint64_t end; /* of the window: a number of credits */
};

static void destroy(void *summary) {
    struct lossy_counting *lossy = summary;
    node_list_free(&lossy->list);
    free(lossy);
}

static void *create(struct mcct *tree, const struct mcct_params *params) {
    (void)params;
    struct lossy_counting *lossy = counters_new(tree, sizeof *lossy);
    if (lossy == NULL)
        return NULL;
    lossy->end = tree->capacity;
    if (!node_list_reserve(&lossy->list, tree)) {
        destroy(lossy);
        return NULL;
    }
    return lossy;
}

/* All that `unseen` covers may go. */
static void forget_covered(struct lossy_counting *lossy) {
    struct node_list *list = &lossy->list;
    for (uint32_t i = 0; i < list->n;) {
        uint32_t node = list->node[i];
        if (tree_count(lossy->counters.tree, node) > lossy->counters.unseen) {
            i++;
            continue;
        }
        list->node[i] = list->node[--list->n];
        counters_evict(&lossy->counters, node);
    }
}

static void end_window(struct lossy_counting *lossy) {
    const struct mcct *tree = lossy->counters.tree;
    counters_raise(lossy, tree->total / tree->capacity);
    forget_covered(lossy);
    lossy->end = tree->updates + tree->capacity;
}

static bool shrink(void *summary) {
    struct lossy_counting *lossy = summary;
    struct node_list *list = &lossy->list;
    uint32_t keep = counters_keep(&lossy->counters);
    if (keep == list->n)
        return false;
    node_list_split(list, lossy->counters.tree, keep);
    while (list->n > keep)
        counters_evict(&lossy->counters, list->node[--list->n]);
    return true;
}

static bool adopt(void *summary, uint32_t node, uint64_t count, uint64_t error) {
    struct lossy_counting *lossy = summary;
    if (!node_list_reserve(&lossy->list, lossy->counters.tree))
        return false;
    counters_monitor(&lossy->counters, node, count, error);
    lossy->list.node[lossy->list.n++] = node;
    return true;
}

static void update(void *summary, uint32_t node, uint64_t weight) {
    struct lossy_counting *lossy = summary;
    while (!adopt(lossy, node, weight, 0))
        shrink(lossy); /* the list is full, which is more than shrink() leaves alone */
    if (lossy->counters.tree->updates >= lossy->end)
        end_window(lossy);
}

static void trim(void *summary) {
    struct lossy_counting *lossy = summary;
    if (lossy->counters.tree->updates >= lossy->end)
        end_window(lossy);
    else
        forget_covered(lossy);
}

const struct summary_kind summary_lossy_counting = {
    .name = "lossy-counting",
    .help = "up to log(epsilon N)/epsilon contexts, each error at most epsilon of the total",
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
