/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mcct.h - the monitored calling context tree.
 *
 * D'Elia, Demetrescu, Finocchi: Mining hot calling contexts in small space (2015), section 3.3 and
 * Algorithm 1. The tree holds the monitored contexts and all their ancestors, first child and next
 * sibling with a parent link, 32-bit links into pages of 32-byte nodes. A node that is neither
 * monitored nor an ancestor, and on which no cursor rests, does not exist.
 *
 * Pure: no process, address or file in sight. A frame is a 32-bit number whose meaning is the
 * caller's. Weights are whatever the caller counts (calls, nanoseconds).
 *
 * While all that comes to a tree comes in batches (batch.h), it may do without most of its nodes
 * (packed.h).
 *
 * A tree is not thread-safe: readers need the same lock as writers. Nothing here prints or exits;
 * failure to get memory makes the tree give precision away (see max_bytes), never the process.
 */
#ifndef HCCT_MCCT_H
#define HCCT_MCCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mcct;
struct mcct_batch;
struct mcct_node;
struct summary_kind;

#define MCCT_ROOT 1u /* index of the root node, which has no frame; 0 is no node */

struct mcct_params {
    const struct summary_kind *summary; /* NULL: the default */
    double epsilon;                     /* 0 < epsilon < 1: the largest error, as a share of N */
    double phi;       /* what the caller will call hot, as a share of N; only a sampling summary's
                       * size depends on it. 0: 5 epsilon */
    uint64_t seed;    /* of a sampling summary's coin: same seed, same stream, same result */
    size_t max_bytes; /* hard cap of nodes and summary, 0: none. When it is met, a bounded summary
                       * monitors fewer contexts (`unseen` tells what that cost); when that is not
                       * enough, new contexts are credited to their nearest existing ancestor,
                       * which is counted in `capped` */
};

#define MCCT_PATH 64u /* levels; a power of two */

/* Where a thread stands in a tree. Owned by the caller, who keeps it at one address while open.
 * Private: the tree's. */
struct mcct_cursor {
    struct mcct *tree;
    struct mcct_node *here; /* the node itself */
    uint32_t node;
    uint64_t missing; /* frames below `node` that could not be made (memory cap) */
    uint64_t depth;   /* of `node`; the root's is 0 */
    uint64_t each;    /* mcct_count_as() */
    uint64_t known;   /* the nodes of the levels known..depth stand in `path`: so a return need not
                       * wait for the memory of the node that it leaves */
    struct mcct_cursor *next, *prev;
    struct mcct_batch *waiting; /* of this cursor (batch.h), still to be merged; NULL: none is */
    uint32_t path[MCCT_PATH];   /* by level modulo MCCT_PATH */
};

/* A new empty tree, or NULL when there is no memory, or max_bytes is below some 10 KB. */
struct mcct *mcct_new(const struct mcct_params *params);
void mcct_free(struct mcct *tree); /* NULL is allowed; open cursors become invalid. They are there
                                    * still if batches wait (batch.h) */

/* A cursor at the root; cursors keep their node from being pruned (Algorithm 1). */
void mcct_cursor_open(struct mcct *tree, struct mcct_cursor *cursor);
void mcct_cursor_close(struct mcct_cursor *cursor);
/* A cursor on the same context as `at`, which is in another tree; that is made where it is not
 * there. What there is no memory for is missing. */
void mcct_cursor_open_at(struct mcct *tree, struct mcct_cursor *cursor,
                         const struct mcct_cursor *at);
/* Closes all cursors of the tree; the `tree` of a closed cursor is NULL. */
void mcct_close_cursors(struct mcct *tree);

/* The cursor goes to the child with that frame, which is made when it is not there. */
void mcct_push(struct mcct_cursor *cursor, uint32_t frame);
/* n pushes of the frame under the cursor (recursion). False, and nothing is done: the cursor is at
 * the root, which has no frame. */
bool mcct_repeat(struct mcct_cursor *cursor, uint64_t n);
/* The cursor goes n frames up. Returns how many frames there were: fewer than n when the caller's
 * stream was wrong; the cursor is at the root then. */
uint64_t mcct_pop(struct mcct_cursor *cursor, uint64_t n);
/* The context under the cursor gains `weight` (> 0): update(x, M), then prune (Algorithm 1). */
void mcct_credit(struct mcct_cursor *cursor, uint64_t weight);
/* What is credited through the cursor from here on counts `each` (> 0) times; 1 at first. A batch
 * that is open must be of the same number; one of another that waits ends. */
void mcct_count_as(struct mcct_cursor *cursor, uint64_t each);
/* mcct_push(cursor, frame) and mcct_credit(cursor, 1): one call of an instrumented program. */
void mcct_call(struct mcct_cursor *cursor, uint32_t frame);
/* Frames between the root and the cursor. */
uint64_t mcct_depth(const struct mcct_cursor *cursor);

/* Flushes what is gathered for the tree at the end of its stream, so that queries need no memory.
 * The stream may go on: the tree stays right, but it is not the one that it would have been.
 */
void mcct_flush(struct mcct *tree);

/* ---- what is in it ---- */

struct mcct_view {
    uint32_t depth;  /* 0 for the root */
    uint32_t parent; /* 0 for the root */
    uint32_t frame;  /* 0 for the root */
    uint64_t count;  /* count - error <= true weight <= count; 0 when not monitored. From a sampling
                      * summary the second holds with high probability only (summary.h) */
    uint64_t error;
    bool monitored;
};

struct mcct_stats {
    uint64_t total;     /* N: all weight ever credited */
    uint64_t updates;   /* credits */
    uint64_t nodes;     /* nodes of the tree, its root included */
    uint64_t monitored; /* |M| */
    uint64_t capacity;  /* 1/epsilon, the most that |M| can be (0: no such limit) */
    uint64_t unseen;    /* no context that is not monitored has a larger weight (from a sampling
                         * summary: with high probability): the bound of every error; at most
                         * epsilon * total unless max_bytes was met */
    uint64_t bytes;     /* nodes and summary: never above max_bytes */
    uint64_t capped; /* weight that went to an ancestor because of max_bytes: count - error may be
                      * above an ancestor's self weight by so much, all together */
};

void mcct_stats(const struct mcct *tree, struct mcct_stats *stats);

/* Calls `visit` for each node in preorder, the root first, children in the order of the frame
 * number; a false return stops. `node` is its index. False: there was no memory to go on (it takes
 * 12 bytes for each child of the nodes on one path). The tree must not change meanwhile, and the
 * indices of its nodes are new in each walk. */
typedef bool mcct_visit(void *arg, uint32_t node, const struct mcct_view *view);
bool mcct_walk(const struct mcct *tree, mcct_visit *visit, void *arg);

/* Weight of contexts that are not kept, whose deepest kept caller is `node` and whose own frame is
 * `frame`, for each such frame, in its order; a false return stops. What all contexts gained for
 * certain (count - error) and all residuals are at most the total, and no less of it than what
 * there was memory for: the rest may lie anywhere. `node` as mcct_walk names it. False: no memory.
 */
typedef bool mcct_residual_visit(void *arg, uint32_t frame, uint64_t weight);
bool mcct_residuals(const struct mcct *tree, uint32_t node, mcct_residual_visit *visit, void *arg);

/* Adds all of `from`, another tree of the same summary kind, to `into`: counts and errors are
 * added; a context that only one of them monitors gains the other's `unseen` in count and error;
 * then `into` goes back to its capacity (mergeable summaries, Agarwal et al., PODS 2012). The
 * bounds hold for the sum, the total is the sum of both; the counts need not add up to it any more
 * (merge.c). Cursors of both stay valid. False: the kinds differ, and nothing was done; or there
 * was no memory for some contexts of `from`, and `unseen` has risen to cover what they weigh. */
bool mcct_merge(struct mcct *into, const struct mcct *from);

/* ---- a tree that was written down, made again (restore.c) ---- */

/* The context under the cursor was monitored with this count (> 0) and error. To be called for each
 * once, before anything is credited. False: there is no memory for it, or it was named before. */
bool mcct_restore(struct mcct_cursor *cursor, uint64_t count, uint64_t error);

/* Below the context under the cursor, or at it where it could not be made, contexts that are not
 * kept and whose own frame is `frame` had that weight: as mcct_residuals() gave it. */
void mcct_restore_residual(struct mcct_cursor *cursor, uint32_t frame, uint64_t weight);

/* All contexts have been named: `stats` has the total, updates, unseen (at least the largest count
 * for which there was no memory) and capped of the tree that was. The summary may be of another
 * kind and size: bounds stay true. */
void mcct_restored(struct mcct *tree, const struct mcct_stats *stats);

#endif
