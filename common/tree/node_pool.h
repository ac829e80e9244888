/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * node_pool.h - the nodes of one tree: 32 bytes each, named by 32-bit indices.
 *
 * A pool reserves addresses for all nodes that it may ever have and opens them for use step by
 * step, each step as many as there were before: nodes never move, and the address of a node is one
 * addition, which every step through the tree waits for. A tiny tree takes one page, a huge one a
 * handful of system calls, and the kernel may use large pages. Pages are touched, and charged to
 * the budget, only as far as nodes were ever needed; freed nodes are used again first. Memory goes
 * back with the pool: it is bounded by the most nodes there ever were.
 *
 * A cell is either a node or the head of a wide node's children (children.h). A summary may ask for
 * so many bytes beside every cell: where there is memory for a node, there is for what the summary
 * keeps of it.
 */
#ifndef HCCT_NODE_POOL_H
#define HCCT_NODE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/tree/budget.h"

struct mcct_node {
    uint32_t parent;
    uint32_t links; /* first child, or the family cell of a wide node; flags in the top bits */
    uint32_t next;  /* sibling, in a list of children; unused among a wide node's children */
    uint32_t frame;
    uint64_t count;
    uint64_t error;
};

/* Flags in `links`. A node whose links are 0 has no child, is not monitored, and no cursor other
 * than the active one rests there: one comparison tells that nothing keeps it. */
#define NODE_MONITORED 0x80000000u
#define NODE_RESTED    0x40000000u /* a cursor may rest here (tree.h) */
#define NODE_WIDE      0x20000000u /* the link names a family cell */
#define NODE_HELD      0x10000000u /* a batch that is being merged knows the node (batch_merge.c) */
#define NODE_INDEX     0x0fffffffu

_Static_assert(sizeof(struct mcct_node) == 32, "two nodes fill a cache line");

/* The children of a wide node: a table of their indices, open addressing, a power of two. */
struct mcct_family {
    uint32_t *slots; /* 0: free; else the node, its three top bits a tag out of the hash */
    uint32_t used;
    uint32_t bits;       /* log2 of the slots */
    uint32_t next, prev; /* family cells of the same tree */
};

_Static_assert(sizeof(struct mcct_family) <= sizeof(struct mcct_node), "a cell holds either");

struct node_pool {
    uintptr_t base; /* of cell 0; 0: nothing is reserved yet */
    uintptr_t side; /* what stands beside cell 0 */
    struct budget *budget;
    uint32_t side_bytes; /* beside each cell */
    bool beside;         /* and they can be used */
    uint32_t fresh;      /* the first index never used so far */
    uint32_t freed;      /* head of the list of freed cells, through `next` */
    uint32_t open;       /* cells that can be used */
    uint32_t reserved;   /* cells that have addresses */
};

/* `later`: what stands beside the cells takes memory only after node_pool_open_side(). */
void node_pool_init(struct node_pool *pool, struct budget *budget, uint32_t side_bytes, bool later);
void node_pool_free(struct node_pool *pool);

/* The bytes beside all cells can be used, those of now and those to come. False: no memory. */
bool node_pool_open_side(struct node_pool *pool);

/* A cleared cell, 0 when there is no memory or the budget is used up. */
uint32_t node_pool_take(struct node_pool *pool);
void node_pool_give(struct node_pool *pool, uint32_t index);

static inline uintptr_t node_pool_cell(const struct node_pool *pool, uint32_t index) {
    return pool->base + (uintptr_t)index * sizeof(struct mcct_node);
}

/* The bytes beside a cell; `size` is the side_bytes of the pool. */
static inline void *node_pool_beside(const struct node_pool *pool, uint32_t index, size_t size) {
    return (void *)(pool->side + (uintptr_t)index * size);
}

static inline struct mcct_node *node_at(const struct node_pool *pool, uint32_t index) {
    return (struct mcct_node *)node_pool_cell(pool, index);
}

static inline struct mcct_family *family_at(const struct node_pool *pool, uint32_t index) {
    return (struct mcct_family *)node_pool_cell(pool, index);
}

#endif
