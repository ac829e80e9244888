/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_steps.c - many calls at a time.
 *
 * Where a call leads to is a matter of frames alone, and so is the slot of its context. So where
 * contexts are many, a first pass goes through the calls by their hashes, and asks memory for all
 * their slots; another one for their items; and the last one finds both at hand. The first pass is
 * ahead of the levels' items, and the last one goes over their hashes again, so that in the end
 * both are those of the last step, whichever way each step has gone. Where contexts are few, they
 * are at hand anyway.
 */
#include "common/tree/batch.h"

#define FORESEEN 64u   /* steps */
#define FEW      8192u /* items, and their slots: half of what a processor has for itself */

/* ---- in passes ---- */

/* The hashes of up to FORESEEN levels that are entered. Gives how many there are: it ends at a
 * return to a level that is not known. */
static unsigned foresee(const struct mcct_batch *batch, struct mcct_batch_level *level,
                        const struct mcct_batch_step *step, size_t n, uint32_t *hash) {
    unsigned i = 0, max = n < FORESEEN ? (unsigned)n : FORESEEN;
    for (; i < max; i++) {
        if (hcct_unlikely(step[i].pops > level - batch->level))
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

/* The item below `parent` with that frame and hash gains `times`: its number; 0 if that is not just
 * an addition. Whether the context is new to the batch is what no processor foresees, so it makes
 * no difference to the way that is gone here: the next item is made in any case. */
static inline uint32_t count(struct mcct_batch *batch, uint32_t parent,
                             const struct mcct_batch_step *step, uint32_t hash) {
    uint32_t slot = hash >> (32 - BATCH_BITS), next = batch->items, item = batch->slot[slot];
    uint64_t key = batch_key(parent, step->frame);
    uint32_t is_new = item == 0;
    batch->item[next] = key;
    batch->taken[next] = slot;
    item += next & -is_new; /* a sum, of which no compiler makes a branch */
    uint64_t held = batch->item[item];
    if (hcct_unlikely((held ^ key) >= BATCH_WEIGHT || next == BATCH_ITEMS))
        return 0;
    batch->item[item] = held + step->times;
    batch->slot[slot] = (uint16_t)item;
    batch->items = next + is_new;
    return item;
}

/* As far as the hashes are those of the levels. *n says how far. */
static struct mcct_batch_level *make(struct mcct_batch *batch, struct mcct_batch_level *level,
                                     const struct mcct_batch_step *step, const uint32_t *hash,
                                     unsigned *n) {
    uint32_t begun = batch->begun;
    unsigned i = 0;
    while (i < *n && batch->begun == begun) {
        level -= step[i].pops;
        uint32_t item = count(batch, level->item, &step[i], hash[i]);
        if (hcct_likely(item != 0))
            *++level = (struct mcct_batch_level){.hash = hash[i], .item = item};
        else
            level = mcct_batch_enter(batch, level, step[i].frame, step[i].times, hash[i]);
        i++;
    }
    *n = i;
    return level;
}

/* ---- one by one ---- */

/* *n says how many: less than there are where one of them can't be made. */
static struct mcct_batch_level *go(struct mcct_batch *batch, struct mcct_batch_level *level,
                                   const struct mcct_batch_step *step, unsigned *n) {
    uint64_t popped;
    unsigned i = 0;
    for (; i < *n; i++) {
        level = mcct_batch_pop(batch, level, step[i].pops, &popped);
        if (hcct_unlikely(popped != step[i].pops))
            break;
        level = batch_step(batch, level, step[i].frame, step[i].times);
    }
    *n = i;
    return level;
}

/* ---- both ---- */

static bool is_foreseen(const struct mcct_batch *batch, const struct mcct_batch_level *level) {
    return batch->items >= FEW && !batch->direct && level - batch->level < BATCH_ITEMS - FORESEEN;
}

struct mcct_batch_level *mcct_batch_steps(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          const struct mcct_batch_step *step, size_t *n) {
    uint32_t hash[FORESEEN];
    unsigned tried, made = 0;
    size_t done = 0;
    do {
        size_t left = *n - done;
        tried = is_foreseen(batch, level) ? foresee(batch, level, step + done, left, hash) : 0;
        if (tried > 0) {
            made = tried;
            fetch_items(batch, hash, made);
            level = make(batch, level, step + done, hash, &made);
            tried = made;
        } else {
            tried = made = left < FORESEEN ? (unsigned)left : FORESEEN;
            level = go(batch, level, step + done, &made);
        }
        done += made;
    } while (made == tried && done < *n);
    *n = done;
    return level;
}
