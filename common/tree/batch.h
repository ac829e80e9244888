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
 * the calls have led to: what is needed for every call should stand in a register. Where calls come
 * a few at a time, the batch waits in between (batch_wait.c).
 */
#ifndef HCCT_BATCH_H
#define HCCT_BATCH_H

#include "common/tree/mcct.h"
#include "common/wire/compiler.h"

#define BATCH_BITS   17u /* log2 of the table: a quarter of a megabyte */
#define BATCH_SLOTS  (1u << BATCH_BITS)
#define BATCH_ITEMS  (BATCH_SLOTS / 16 * 3) /* contexts */
#define BATCH_WEIGHT 0xffffu                /* of an item, at most */
#define BATCH_NONE   0xffffu                /* is no item */
#define BATCHES_MAX  8u                     /* at once, in the whole program; 1.4 MB each */
#define BATCHES_WAIT 4u                     /* of them */

#define BATCH_FRAME_SHIFT  16u
#define BATCH_PARENT_SHIFT (BATCH_FRAME_SHIFT + 32)

/* One context on the path of the thread. */
struct mcct_batch_level {
    uint32_t hash; /* of the path from the lowest level to here */
    uint32_t item;
};

struct mcct_batch {
    struct mcct_cursor *cursor; /* where the thread stood when the items began */
    /* while it waits */
    struct mcct_batch_level *waits_at;
    struct mcct_batch *next, **link; /* in the tree's list */
    uint64_t factor;                 /* of the hash: odd and random */
    uint32_t items;
    uint32_t carried; /* the first items are the path that the thread stood on: of each level one */
    uint32_t reach;   /* so many levels of it are known at most */
    uint32_t begun;   /* how often items have begun: then all levels are others */
    bool direct;      /* memory is short: calls go straight into the tree */
    uint16_t slot[BATCH_SLOTS]; /* an item; 0: free, as the first one has no slot */
    /* an item before this one, its parent: 16 bits, frame 32, weight 16; one more is read */
    uint64_t item[BATCH_ITEMS + 1];
    uint32_t taken[BATCH_ITEMS + 1]; /* of each item its slot */
    struct mcct_batch_level level[BATCH_ITEMS];
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

/* The batch waits for more calls of its thread. Until mcct_batch_go_on() the cursor and the tree
 * may be used as if it had ended, and it ends when that is asked of them: whoever looks at the tree
 * sees all of it. It ends at once where BATCHES_WAIT do wait. NULL is allowed. */
void mcct_batch_wait(struct mcct_batch *batch, struct mcct_batch_level *level);

/* The batch of this cursor that waits, and its level. NULL: none does. */
struct mcct_batch *mcct_batch_go_on(struct mcct_cursor *cursor, struct mcct_batch_level **level);

/* The batch of this cursor that waits, if one does, ends. */
void mcct_batch_wait_no_more(struct mcct_cursor *cursor);

/* What all batches take, with one that is kept for the next; no tree has it in its bytes. */
size_t mcct_batch_bytes(void);

/* So many returns, and a push after them, which is credited 1 or, as it was not seen, 0 times. */
struct mcct_batch_step {
    uint32_t frame;
    uint16_t pops, times;
};

/* The level that the first *n steps lead to: as mcct_batch_pop() and mcct_batch_call(), or
 * mcct_batch_push(), for each of them. Fewer are made, and *n says how many, when there are not so
 * many frames as one of them pops; that pop is made, up to the root. Faster than one by one where
 * contexts are many: memory is asked for what all need before the first is made. */
struct mcct_batch_level *mcct_batch_steps(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          const struct mcct_batch_step *step, size_t *n);

/* Private: what the functions below leave to these. `hash`: of the level that is entered. */
struct mcct_batch_level *mcct_batch_enter(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint32_t frame, uint32_t weight, uint32_t hash);
struct mcct_batch_level *mcct_batch_leave(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint64_t n, uint64_t *left);

static inline uint32_t batch_hash(const struct mcct_batch *batch, uint32_t parent, uint32_t frame) {
    return (uint32_t)((parent + ((uint64_t)frame << 32 | frame)) * batch->factor >> 32);
}

/* An item without weight. */
static inline uint64_t batch_key(uint32_t parent, uint32_t frame) {
    return (uint64_t)parent << BATCH_PARENT_SHIFT | (uint64_t)frame << BATCH_FRAME_SHIFT;
}

static inline uint32_t batch_parent(const struct mcct_batch *batch, uint32_t item) {
    return (uint32_t)(batch->item[item] >> BATCH_PARENT_SHIFT);
}

static inline uint32_t batch_frame(const struct mcct_batch *batch, uint32_t item) {
    return (uint32_t)(batch->item[item] >> BATCH_FRAME_SHIFT);
}

static inline uint32_t batch_weight(const struct mcct_batch *batch, uint32_t item) {
    return (uint32_t)batch->item[item] & BATCH_WEIGHT;
}

/* mcct_push(), with a credit of `times` that is 0 or 1: the level that it leads to. What is new to
 * the batch, or can't gain so much, takes the long way. */
static inline struct mcct_batch_level *batch_step(struct mcct_batch *batch,
                                                  struct mcct_batch_level *level, uint32_t frame,
                                                  uint32_t times) {
    uint32_t hash = batch_hash(batch, level->hash, frame);
    uint32_t item = batch->slot[hash >> (32 - BATCH_BITS)];
    uint64_t key = batch_key(level->item, frame), held = batch->item[item];
    if (hcct_unlikely(item == 0 || (held ^ key) >= BATCH_WEIGHT))
        return mcct_batch_enter(batch, level, frame, times, hash);
    batch->item[item] = held + times;
    level++;
    level->hash = hash;
    level->item = item;
    return level;
}

/* mcct_call() */
static inline struct mcct_batch_level *
mcct_batch_call(struct mcct_batch *batch, struct mcct_batch_level *level, uint32_t frame) {
    return batch_step(batch, level, frame, 1);
}

/* mcct_push() */
static inline struct mcct_batch_level *
mcct_batch_push(struct mcct_batch *batch, struct mcct_batch_level *level, uint32_t frame) {
    return batch_step(batch, level, frame, 0);
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
