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
 * One thread at a time for each tree.
 */
#ifndef HCCT_SUMMARY_H
#define HCCT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mcct;

struct summary_kind {
    const char *name; /* as --summary says it */
    const char *help; /* one line: what it guarantees */
    bool bounded;     /* never monitors more than its capacity */

    /* Make the summary of `tree`. `capacity` = ceil(1 / epsilon) contexts. NULL: no memory. */
    void *(*create)(struct mcct *tree, uint32_t capacity);
    void (*destroy)(void *summary);

    /* The context of `node`, which is not monitored, has weight: the article's update(x, M). The
     * node may become monitored, and others may stop being so. What a monitored context gains the
     * tree adds to its count without a call, which is the heart of the lazy queue. */
    void (*update)(void *summary, uint32_t node, uint64_t weight);

    /* Certain bound on the weight of a context that is not monitored. */
    uint64_t (*unseen)(const void *summary);

    /* Contexts that are monitored now. */
    uint32_t (*monitored)(const void *summary);

    /* The tree has met its memory cap: monitor fewer contexts. False: as many as before. NULL for a
     * kind that keeps all. */
    bool (*shrink)(void *summary);

    /* ---- merging: raise, adopt many, raise, trim ---- */

    /* A context that is not monitored may weigh that much. */
    void (*raise)(void *summary, uint64_t unseen);

    /* `node`, which is not monitored here, is so elsewhere, with this count and error: monitor it
     * with unseen() added to both. The capacity does not bind until trim(). False: no memory. */
    bool (*adopt)(void *summary, uint32_t node, uint64_t count, uint64_t error);

    /* Back to capacity, by forgetting the smallest counts. */
    void (*trim)(void *summary);
};

/* All kinds, ended by an entry without a name; the first is the default. */
extern const struct summary_kind *const summary_kinds[];

/* The kind of that name, or NULL. */
const struct summary_kind *summary_find(const char *name);

extern const struct summary_kind summary_space_saving; /* space_saving.c, the default */
extern const struct summary_kind summary_exact;        /* exact.c: every context, the oracle */

#endif
