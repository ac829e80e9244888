/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * summary.h - which contexts stay monitored: the counter-based stream summaries behind one table.
 *
 * A summary decides *which* nodes of a tree are monitored; the tree (mcct.h) decides what must
 * exist so that these have ancestors. Counts and errors live in the nodes. The only call from a
 * summary back to its tree is tree_forget() (tree.h), for a node that is no longer monitored. What
 * a summary allocates it takes from the tree's budget.
 *
 * What every kind keeps true: count - error <= true weight <= count for a monitored context, and
 * true weight <= unseen() for all others, also after merges and under a memory cap.
 *
 * For a kind that is `certain` that is so for every context at any time, whatever the stream. One
 * that samples has a coin: count - error <= true is certain with it too, but that a context's true
 * weight is at most its count, or at most unseen() where it is not monitored, holds with a
 * probability that the kind's file states, for a stream that does not depend on the coin.
 *
 * One thread at a time for each tree.
 */
#ifndef HCCT_SUMMARY_H
#define HCCT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mcct;
struct mcct_params;

struct summary_kind {
    const char *name;    /* as --summary says it */
    const char *help;    /* one line: what it guarantees */
    bool bounded;        /* never monitors more than the tree's capacity, ceil(1 / epsilon) */
    bool certain;        /* its upper bounds are, and are not only probable */
    bool packs;          /* it keeps the largest counts, or all: its trees can do without nodes
                          * (packed.h), and nothing but capacity and bounds is its own then */
    uint32_t side_bytes; /* to be had beside each node (node_pool.h), 0: none */
    bool side_later;     /* only from node_pool_open_side() on */

    /* Make the summary of `tree`, whose capacity is set. NULL: no memory. For a kind that packs
     * there may be no params: it is made anew when its tree is packed. */
    void *(*create)(struct mcct *tree, const struct mcct_params *params);
    void (*destroy)(void *summary);

    /* The context of `node`, which is not monitored, has weight: the article's update(x, M). The
     * node may become monitored, and others may stop being so. */
    void (*update)(void *summary, uint32_t node, uint64_t weight);

    /* A context that has no node in the tree, with that hash (path_hash.h), has weight. True: that
     * is all taken account of, and it needs no node; false: it is to be updated. NULL: it always
     * is. Asked only when the tree has_paths. */
    bool (*refuse)(void *summary, uint32_t hash, uint64_t weight);

    /* A context with that hash will have weight soon: a hint to memory. NULL with refuse. */
    void (*expect)(const void *summary, uint32_t hash);

    /* The count of `node`, which is monitored, has grown by what its context has gained. NULL: the
     * summary need not know, and the tree adds to the count without a call, which is the heart of
     * the lazy queue. Not called for what a merge adds: trim() comes after it. */
    void (*gain)(void *summary, uint32_t node);

    /* Bound on the weight of a context that is not monitored. */
    uint64_t (*unseen)(const void *summary);

    /* Contexts that are monitored now. */
    uint32_t (*monitored)(const void *summary);

    /* The tree has met its memory cap: monitor fewer contexts. False: as many as before, and asking
     * again is of no use. NULL for a kind that keeps all. */
    bool (*shrink)(void *summary);

    /* ---- merging: the tree adds to counts and errors; adopt many, raise, trim ---- */

    /* A context that is not monitored may weigh that much. */
    void (*raise)(void *summary, uint64_t unseen);

    /* `node`, which is not monitored here, is so elsewhere, with this count and error: monitor it
     * with unseen() added to both, or take it as weight count - error that it gained, if that may
     * leave it unmonitored. The capacity does not bind until trim(). False: no memory. */
    bool (*adopt)(void *summary, uint32_t node, uint64_t count, uint64_t error);

    /* The merge is done, the tree's total is that of both: back to capacity. */
    void (*trim)(void *summary);
};

/* All kinds, ended by an entry without a name; the first is the default. */
extern const struct summary_kind *const summary_kinds[];

/* The kind of that name, or NULL. */
const struct summary_kind *summary_find(const char *name);

extern const struct summary_kind summary_filtered_space_saving; /* space_saving.c, the default */
extern const struct summary_kind summary_space_saving;          /* space_saving.c: the articles' */
extern const struct summary_kind summary_space_saving_list;     /* bucket_list.c */
extern const struct summary_kind summary_lossy_counting;        /* lossy_counting.c */
extern const struct summary_kind summary_sticky_sampling;       /* sticky_sampling.c */
extern const struct summary_kind summary_exact; /* exact.c: every context, the oracle */

/* What --epsilon is where it is not given. What is kept does not depend on what is called hot, but
 * that a context can only be called hot by a count that is better than phi. */
static inline double summary_default_epsilon(double phi) {
    return phi / 5 < 2e-5 ? phi / 5 : 2e-5;
}

#endif
