/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * residual.h - the weight of contexts that are not kept: how much of it lies below each node, by
 * the frame of the context that had it.
 *
 * What a summary refuses or evicts is certain weight of some context, whose deepest caller in the
 * tree and whose own frame are known at that moment. A residual is such a sum: (node, frame,
 * weight). When a node is removed, its residuals go to its parent. So what monitored contexts
 * gained for certain (count - error) and the residuals add up to all weight, each residual lies
 * below its node, and self weights by frame are exact.
 *
 * There are as many as the tree's capacity at most, but RESIDUALS_MIN at least, in an eighth of the
 * tree's memory where that is limited. When there is no room, weight joins a residual of the same
 * frame further up, and otherwise none: it is missing in the sum then, and may lie anywhere.
 *
 * A packed tree has none here: packed_sums.h.
 *
 * As the tree, for one thread at a time.
 */
#ifndef HCCT_RESIDUAL_H
#define HCCT_RESIDUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tree/mcct.h"
#include "common/tree/node_pool.h"

#define RESIDUALS_MIN   8192u
#define RESIDUALS_BYTES 32u /* that one takes */

struct residual {
    uint32_t node, frame;
    uint64_t weight;
    uint32_t next_of_pair; /* with the same hash of (node, frame); of a free one: the next free */
    uint32_t next_of_node; /* with the same hash of the node */
};

struct residuals {
    struct budget *budget;
    const struct node_pool *pool; /* whose nodes are meant */
    uint32_t most;                /* of them */
    struct residual *item;        /* from 1 on; 0 is none */
    uint32_t *by_pair, *by_node;
    uint32_t bits; /* log2 of the chains, of each kind */
    uint32_t n, fresh, room, free;
};

/* Of a tree with that capacity. */
void residual_init(struct residuals *residuals, struct budget *budget, const struct node_pool *pool,
                   uint32_t capacity);
/* All are forgotten. */
void residual_free(struct residuals *residuals);

/* A context with that frame, whose deepest caller in the tree is `node`, has had weight. */
void residual_add(struct residuals *residuals, uint32_t node, uint32_t frame, uint64_t weight);
/* `node` is about to be removed: its residuals join the list of those without a node, which begins
 * with *lifted, at first 0. All of a chain of nodes are put down at once, as each would move what
 * came from all below it. */
void residual_lift(struct residuals *residuals, uint32_t node, uint32_t *lifted);
void residual_put_down(struct residuals *residuals, uint32_t node, uint32_t lifted);

/* Those of `node`, as mcct_residuals() has it. */
bool residual_visit(const struct residuals *residuals, uint32_t node, mcct_residual_visit *visit,
                    void *arg);

/* There may be some to lift. */
static inline bool residual_any(const struct residuals *residuals) {
    return residuals->n != 0;
}

#endif
