/*
 * summary.h - which contexts stay monitored: the counter-based stream summaries behind one table.
 *
 * A summary decides *which* nodes of a tree are monitored; the tree (mcct.h) decides what must
 * exist so that these have ancestors. Counts and errors live in the nodes. The only call from a
 * summary back to its tree is mcct_forget(), for a node that is no longer monitored.
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

    /* Make the summary of `tree`. `capacity` = ceil(1 / epsilon) contexts. NULL: no memory. */
    void *(*create)(struct mcct *tree, uint32_t capacity);
    void (*destroy)(void *summary);

    /* The context of `node` gained `weight` (the article's update(x, M)). The node may become
     * monitored, and others may stop being so. */
    void (*update)(void *summary, uint32_t node, uint64_t weight);

    /* Certain bound on the weight of a context that is not monitored. */
    uint64_t (*unseen)(const void *summary);

    /* Contexts that are monitored now. */
    uint32_t (*monitored)(const void *summary);

    /* Bytes that the summary holds beside the nodes. */
    size_t (*bytes)(const void *summary);

    /* Make `node` monitored with this count and error, as merging needs it; the summary may hold
     * more than its capacity until the next trim(). */
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
