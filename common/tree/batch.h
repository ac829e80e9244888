/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch.h - calls of one thread, gathered before they go into their tree.
 *
 * A call costs a large tree the memory of a node, and of the callees that are compared before the
 * right one is found; where contexts are many, an eviction too. But calls repeat within a short
 * time. So the latest few thousand contexts have a small exact tree of their own, the batch: a hash
 * table that fits into the processor's own memory, where the next context is found by the hash of
 * its path, and need not wait for the one before. When it is full, all its contexts go into the big
 * tree with what they gained: as a run, sorted, where that is packed (batch_run.c, packed.h), or
 * into its nodes (batch_merge.c), callers first, so that a context that is not in the tree spares
 * looking for what it calls.
 *
 * To the tree that is a stream of weights: what its summary guarantees holds, but only when the
 * batch has ended is all of it there. Which contexts a batch holds depends on the calls alone, so
 * that the same calls in the same batches make the same tree.
 *
 * While a batch is open the caller leaves the cursor and the tree alone, and keeps the level that
 * the calls have led to: what is needed for every call should stand in a register.
 */
#ifndef HCCT_BATCH_H
#define HCCT_BATCH_H

#include "common/tree/mcct.h"
#include "common/wire/compiler.h"

#define BATCH_BITS    17u /* log2 of the table: one megabyte */
#define BATCH_SLOTS   (1u << BATCH_BITS)
#define BATCH_ITEMS   (BATCH_SLOTS / 16 * 3) /* contexts */
#define BATCH_COUNTED 0x7fffu                /* of a slot: weight + 1 */
#define BATCHES_MAX   8u                     /* at once, in the whole program; 2.3 MB each */

#define BATCH_FRAME_SHIFT  15u
#define BATCH_PARENT_SHIFT (BATCH_FRAME_SHIFT + 32)

/* One context on the path of the thread. */
struct mcct_batch_level {
    uint32_t hash; /* of the path from the lowest level to here */
    uint32_t slot;
};

struct mcct_batch {
    struct mcct_cursor *cursor; /* where the thread stood when the items began */
    uint64_t factor;            /* of the hash: odd and random */
    uint32_t items;
    uint32_t carried; /* the first items are the path that the thread stood on: of each level one */
    uint32_t reach;   /* so many levels of it are known at most */
    bool direct;      /* memory is short: calls go straight into the tree */
    /* parent's slot 17 bits, frame 32, weight + 1: 15; 0: free */
    uint64_t slot[BATCH_SLOTS];
    uint32_t taken[BATCH_ITEMS]; /* slots: of each item the one where it stands */
    struct mcct_batch_level level[BATCH_ITEMS];
    /* when it has ended: what stood in the slots */
    uint16_t item_of[BATCH_SLOTS];
    uint16_t parent[BATCH_ITEMS]; /* an item before this one; of the first: itself */
    uint32_t frame[BATCH_ITEMS], weight[BATCH_ITEMS];
    /* while it is merged */
    uint32_t hash[BATCH_ITEMS];  /* of the whole path, as the tree has it (path_hash.h) */
    uint32_t node[BATCH_ITEMS];  /* 0: not in the tree */
    uint32_t chain[BATCH_ITEMS]; /* items that get nodes for one below them, the lowest first */
    /* while it becomes a run (batch_run.c) */
    uint16_t order[BATCH_ITEMS], extent[BATCH_ITEMS], filled[BATCH_ITEMS];
    uint16_t place[BATCH_ITEMS], depth[BATCH_ITEMS];
};

/* A batch that begins where the cursor is; `*level` is where. NULL: there is no memory, the tree is
 * short of it, or there are BATCHES_MAX: calls are to go through the cursor. Any thread, as are all
 * below: a tree's cursors belong to one at a time. */
struct mcct_batch *mcct_batch_begin(struct mcct_cursor *cursor, struct mcct_batch_level **level);

/* All that was called is in the tree, and the cursor has gone where the calls have led: to `level`.
 * The batch is no more. NULL is allowed. */
void mcct_batch_end(struct mcct_batch *batch, struct mcct_batch_level *level);

/* What all batches take, with one that is kept for the next; no tree has it in its bytes. */
size_t mcct_batch_bytes(void);

/* Private: what the functions below leave to these. */
struct mcct_batch_level *mcct_batch_enter(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint32_t frame, uint32_t weight);
struct mcct_batch_level *mcct_batch_leave(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint64_t n, uint64_t *left);

static inline uint32_t batch_hash(const struct mcct_batch *batch, uint32_t parent, uint32_t frame) {
    return (uint32_t)((parent + ((uint64_t)frame << 32 | frame)) * batch->factor >> 32);
}

static inline uint64_t batch_key(uint32_t parent_slot, uint32_t frame) {
    return (uint64_t)parent_slot << BATCH_PARENT_SHIFT | (uint64_t)frame << BATCH_FRAME_SHIFT;
}

/* mcct_call(): the level that it leads to. Whether the context is new to the batch is what no
 * processor foresees, so it makes no difference to the way that is gone here. */
static inline struct mcct_batch_level *
mcct_batch_call(struct mcct_batch *batch, struct mcct_batch_level *level, uint32_t frame) {
    uint32_t hash = batch_hash(batch, level->hash, frame), slot = hash >> (32 - BATCH_BITS);
    uint64_t key = batch_key(level->slot, frame), held = batch->slot[slot];
    bool is_new = held == 0;
    held = is_new ? key + 1 : held;
    /* the same key, a weight that may grow by one, and room for one that is new */
    if (hcct_unlikely((held ^ key) - 1 >= BATCH_COUNTED - 1 || batch->items == BATCH_ITEMS))
        return mcct_batch_enter(batch, level, frame, 1);
    batch->slot[slot] = held + 1;
    batch->taken[batch->items] = slot;
    batch->items += is_new;
    level++;
    level->hash = hash;
    level->slot = slot;
    return level;
}

/* mcct_push() */
static inline struct mcct_batch_level *
mcct_batch_push(struct mcct_batch *batch, struct mcct_batch_level *level, uint32_t frame) {
    return mcct_batch_enter(batch, level, frame, 0);
}

/* mcct_credit(cursor, 1) */
struct mcct_batch_level *mcct_batch_credit(struct mcct_batch *batch,
                                           struct mcct_batch_level *level);

/* mcct_pop(): `*left` is how many frames there were. */
static inline struct mcct_batch_level *mcct_batch_pop(struct mcct_batch *batch,
                                                      struct mcct_batch_level *level, uint64_t n,
                                                      uint64_t *left) {
    if (hcct_unlikely(n > (uint64_t)(level - batch->level)))
        return mcct_batch_leave(batch, level, n, left);
    *left = n;
    return level - n;
}

#endif
