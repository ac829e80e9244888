/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_steps.c - many calls in two passes.
 *
 * Where a call leads to is a matter of frames alone, and so is the slot of its context. The first
 * pass goes through the calls by their hashes, and asks memory for all their slots; the second one
 * finds these at hand. The hashes of the levels are the first pass's then, and the items of the
 * levels the second one's, which is behind.
 */
#include "common/tree/batch.h"

#define FORESEEN 64u /* steps */

/* The hashes of up to FORESEEN levels that are entered. Gives how many there are: it ends at a
 * return to a level that is not known. */
static unsigned foresee(const struct mcct_batch *batch, struct mcct_batch_level *level,
                        const struct mcct_batch_step *step, size_t n, uint32_t *hash) {
    unsigned i = 0, max = n < FORESEEN ? (unsigned)n : FORESEEN;
    for (; i < max; i++) {
        if (hcct_unlikely(step[i].pops > (uint64_t)(level - batch->level)))
            break;
        level -= step[i].pops;
        hash[i] = batch_hash(batch, level->hash, step[i].frame);
        __builtin_prefetch(&batch->slot[hash[i] >> (32 - BATCH_BITS)], 1);
        level++;
        level->hash = hash[i];
    }
    return i;
}

/* The items that are in these slots, or will be in those that are free. */
static void fetch_items(const struct mcct_batch *batch, const uint32_t *hash, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        __builtin_prefetch(&batch->item[batch->slot[hash[i] >> (32 - BATCH_BITS)]], 1);
}

/* As far as the hashes are those of the levels. *n says how far. */
static struct mcct_batch_level *make(struct mcct_batch *batch, struct mcct_batch_level *level,
                                     const struct mcct_batch_step *step, const uint32_t *hash,
                                     unsigned *n) {
    uint32_t begun = batch->begun;
    unsigned i = 0;
    while (i < *n && batch->begun == begun) {
        level = batch_call_hashed(batch, level - step[i].pops, step[i].frame, hash[i]);
        i++;
    }
    *n = i;
    return level;
}

static bool is_deep(const struct mcct_batch *batch, const struct mcct_batch_level *level) {
    return level - batch->level >= BATCH_ITEMS - FORESEEN;
}

struct mcct_batch_level *mcct_batch_steps(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          const struct mcct_batch_step *step, size_t *n) {
    uint32_t hash[FORESEEN];
    uint64_t popped;
    size_t done = 0;
    while (done < *n) {
        unsigned made = batch->direct || is_deep(batch, level)
                            ? 0
                            : foresee(batch, level, step + done, *n - done, hash);
        if (hcct_likely(made > 0)) {
            fetch_items(batch, hash, made);
            level = make(batch, level, step + done, hash, &made);
            done += made;
            continue;
        }
        level = mcct_batch_pop(batch, level, step[done].pops, &popped);
        if (popped != step[done].pops)
            break;
        level = mcct_batch_call(batch, level, step[done++].frame);
    }
    *n = done;
    return level;
}
