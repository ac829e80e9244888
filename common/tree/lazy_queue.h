/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lazy_queue.h - the priority queue of lazy Space Saving: which monitored node has the least count.
 *
 * The queue holds node indices; the keys are the counts in the nodes, which grow without a call to
 * the queue. A count never shrinks while its node is in the queue, and no node enters with a count
 * below the least one taken out so far.
 */
#ifndef HCCT_LAZY_QUEUE_H
#define HCCT_LAZY_QUEUE_H

#include "common/tree/tree.h"

#define LAZY_QUEUE_BUCKETS 65

struct lazy_chunk;

struct lazy_bucket {
    struct lazy_chunk *head; /* full but for the first */
    uint32_t used;           /* entries of the first */
};

struct lazy_queue {
    struct mcct *tree;
    uint64_t last;     /* no count is below */
    uint64_t nonempty; /* bit b - 1: bucket b has entries; bucket 0 is tested itself */
    struct lazy_bucket bucket[LAZY_QUEUE_BUCKETS];
    struct lazy_chunk *spare, *slabs;
    uint32_t chunks;
};

void lazy_queue_init(struct lazy_queue *queue, struct mcct *tree);
void lazy_queue_free(struct lazy_queue *queue);

/* From now on so many entries fit for sure. False: no memory; what was reserved before stays. */
bool lazy_queue_reserve(struct lazy_queue *queue, uint32_t entries);

void lazy_queue_insert(struct lazy_queue *queue, uint32_t node);

/* The least count of all. The queue must not be empty. From now on no node enters with a lower one.
 */
uint64_t lazy_queue_least(struct lazy_queue *queue);

/* Takes out a node with the least count. The queue must not be empty. */
uint32_t lazy_queue_take_least(struct lazy_queue *queue);

#endif
