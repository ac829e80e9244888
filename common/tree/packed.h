/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * packed.h - a tree without nodes: the form that a tree has while all that comes to it comes in
 * batches.
 *
 * Where contexts are many, most calls that a batch could not absorb are of contexts that come once
 * or twice, and a tree of nodes pays for each of them the memory of its callers and their callees,
 * an admission and an eviction. Here a batch becomes a run (run.h), runs are merged with runs, and
 * what they add up to goes into the store (store.h) when there is enough of it. All of it is
 * reading and writing from one end to the other, and what comes once costs a few copies of a word.
 *
 * The store keeps the k = 1/epsilon contexts with the largest counts. What that guarantees is what
 * Space Saving does (space_saving.c), many of its steps made at a time; Agarwal et al., Mergeable
 * summaries (PODS 2012): an exact summary merged into one of k counters. A context that is new
 * gains, in count and error, the largest count that ever went in its part of the tree (store.h);
 * `unseen` is the largest of all. With N all weight so far:
 *   - count - error <= true weight <= count for each that is monitored;
 *   - what is not monitored weighs at most `unseen`;
 *   - the counts add up to N at most, so that `unseen`, and so each error, is at most N/k. Why: as
 *     soon as something went there are k counts, of at least `unseen` each; and of these and of
 * some new ones the k largest are `unseen` at least, too. So for each new one that stays an old one
 *     goes, whose count is not less than what the new one gains beyond its weight.
 * Errors of 2048 and more are kept in eleven bits: they may be larger by one part in 1024.
 *
 * Where the weight of contexts is that are not kept: packed_sums.h.
 *
 * The nodes that there are meanwhile are those that cursors stand on. What can't be done without
 * nodes (weights that come one by one, a merge with another tree) gives them back to the tree, with
 * the same contexts, counts and bounds.
 */
#ifndef HCCT_PACKED_H
#define HCCT_PACKED_H

#include "common/tree/packed_sums.h"

#define PACKED_COUNT_MAX (STORE_COUNT_MAX - RUN_TOTAL_MAX) /* before a log is added */
#define PACKED_SPARE     (2u << 20) /* bytes of the budget, for nodes of cursors */

struct packed {
    struct run_log log;
    struct store store;
    uint64_t unseen; /* of the store */
    struct packed_sums sums;
    /* what there is to see while there are runs in the log: both together. The store has that only
     * when it is due, so that queries change nothing. No items: not made. */
    struct store view;
    uint64_t view_unseen;
    bool has_rest; /* beside that; with no sums it is empty */
    struct packed_rest rest;
};

/* The contexts of the tree are packed (packed_begin.c). False: they can't be, and need not be asked
 * to be again. */
bool packed_begin(struct mcct *tree);

/* The contexts of the tree, if they are packed, are nodes from now on. */
void packed_end(struct mcct *tree);

/* The tree goes, with all that is packed in it. NULL is allowed. */
void packed_free(struct packed *packed);

/* Where a run of so many words (run.h), whose weights make `weight`, can be written, which
 * packed_add() takes then. NULL: there is no memory. */
uint64_t *packed_room(struct mcct *tree, size_t words, uint64_t weight);
void packed_add(struct mcct *tree, size_t words, uint64_t weight);

/* All runs are in the store. */
void packed_flush(struct mcct *tree);

/* As mcct_stats() and mcct_walk() have it. The index of a node is where it stands. */
void packed_stats(const struct mcct *tree, struct mcct_stats *stats);
bool packed_walk(const struct mcct *tree, mcct_visit *visit, void *arg);
bool packed_residuals(const struct mcct *tree, uint32_t node, mcct_residual_visit *visit,
                      void *arg);

#endif
