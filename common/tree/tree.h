/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tree.h - the inside of a tree, for the files of this folder: the tree itself, and what summaries
 * do to its nodes.
 */
#ifndef HCCT_TREE_H
#define HCCT_TREE_H

#include "common/tree/mcct.h"
#include "common/tree/node_pool.h"
#include "common/tree/residual.h"
#include "common/tree/saturating.h"
#include "common/tree/summary.h"

struct mcct {
    const struct summary_kind *kind;
    void *summary;
    /* The cursor that moved last. Every other cursor's node carries NODE_RESTED, which says only
     * that one *may* rest there: it stays when the cursor moves on, and pruning looks again. So a
     * moving cursor writes no flags, and pruning need not look at all cursors for every node. */
    struct mcct_cursor *active;
    struct mcct_cursor cursors; /* head of the ring of open cursors */
    struct node_pool pool;
    struct budget budget;
    struct residuals residuals; /* of contexts that are not kept */
    uint32_t updated;           /* the node that the summary is to see: forgetting it leaves no
                                 * residual, as what is not taken is refused afterwards; 0: none */
    uint64_t hash_factor;       /* odd and random: see children.c */
    uint64_t total, updates, capped;
    uint32_t nodes, capacity;
    bool has_paths;    /* each node has its hash beside it (path_hash.h) */
    uint32_t silent;   /* NODE_MONITORED, or 0 when the summary is to see every gain */
    uint32_t families; /* list of the family cells, so that freeing a tree need not walk it */
    struct packed
        *packed; /* the contexts, while nodes are for cursors only; NULL: they are nodes */
    bool loose;  /* never packed (again) */
    struct mcct_batch *waiting; /* list of batches (batch.h) that are still to be merged */
};

static inline bool tree_is_monitored(const struct mcct *tree, uint32_t node) {
    return node_at(&tree->pool, node)->links & NODE_MONITORED;
}

static inline uint64_t tree_count(const struct mcct *tree, uint32_t node) {
    return node_at(&tree->pool, node)->count;
}

/* `node` is monitored from now on. */
static inline void tree_monitor(struct mcct *tree, uint32_t node, uint64_t count, uint64_t error) {
    struct mcct_node *n = node_at(&tree->pool, node);
    n->links |= NODE_MONITORED;
    n->count = count;
    n->error = error;
}

/* ---- cursor.c ---- */

/* A new child of `parent`, which has none with that frame; `listed` as children_recall() gives it.
 * At the memory cap first the summary gives way, as the new may matter more than the least of the
 * old. 0: there is no memory. */
uint32_t tree_new_child(struct mcct *tree, uint32_t parent, uint32_t frame, uint32_t listed);

/* The context of `node` gains weight, which is in the tree's total already. */
void tree_credit(struct mcct *tree, uint32_t node, uint64_t weight);

/* Another cursor is to move, NULL: none is to: the one that did so far is to be found by its node's
 * mark. Its batch waits no more. */
void tree_activate(struct mcct *tree, struct mcct_cursor *cursor);

/* ---- batch_wait.c ---- */

/* Private: the same, where one waits. */
void tree_end_waiting_now(const struct mcct *tree);

/* No batch of the tree waits: all that came to it is in it. */
static inline void tree_end_waiting(const struct mcct *tree) {
    if (hcct_unlikely(tree->waiting != NULL))
        tree_end_waiting_now(tree);
}

/* ---- prune.c ---- */

/* Algorithm 1, from a node upwards: it and each ancestor that has no reason to exist is removed. */
void tree_prune(struct mcct *tree, uint32_t node);

/* `node` is monitored no more, and what it gained for certain becomes a residual: it and each
 * ancestor that thus has no reason to exist is removed, unless a cursor rests there. */
void tree_forget(struct mcct *tree, uint32_t node);
/* The same, but its weight is kept elsewhere. */
void tree_release(struct mcct *tree, uint32_t node);

/* The context of `node`, which is not monitored, gains weight: the summary decides what becomes of
 * it, and what it does not take is a residual. */
void tree_update(struct mcct *tree, uint32_t node, uint64_t weight);

/* So much that the context of `node` gained for certain is in its counter no more, or never was: a
 * residual. */
void tree_refuse(struct mcct *tree, uint32_t node, uint64_t weight);

/* The summary adopts a context (summary.h); what it does not take is a residual. False: no memory,
 * and nothing was done. */
bool tree_adopt(struct mcct *tree, uint32_t node, uint64_t count, uint64_t error);

#endif
