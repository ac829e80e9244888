/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch.c - the table of a batch, and how the cursor follows it.
 *
 * An item is found by its parent and its frame, compared exactly; the hash of the path only says
 * where to look. A slot is no more than an item's number, so that the table is small, and items
 * that came one after the other, and will come so again, lie side by side. Slots are taken by
 * linear probing and a fifth of them at most, and all are given back at once.
 *
 * The lowest level is at most `reach` above where the thread stands when items begin anew. Who
 * returns further than that begins anew with a longer reach: a stack of any depth costs a batch
 * only as much of it as is moved through.
 */
#include "common/tree/batch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/tree/batch_merge.h"
#include "common/tree/batch_run.h"
#include "common/tree/packed.h"
#include "common/tree/tree.h"

#define SLOT_MASK   (BATCH_SLOTS - 1)
#define REACH_FIRST 32u
#define REACH_MAX   1024u

#define DEPTH_PACKED (RUN_DEPTH_MAX - BATCH_ITEMS) /* of where a batch begins */

_Static_assert(REACH_MAX < BATCH_ITEMS / 2, "most of a batch is for what is called");
_Static_assert(BATCH_ITEMS < BATCH_NONE, "an item is named by 16 bits");
_Static_assert(BATCH_WEIGHT == RUN_WEIGHT, "a weight needs no carry in a run");
_Static_assert(BATCH_ITEMS < RUN_DEPTH_MAX, "a batch may be all one path");

/* ---- memory ---- */

/* One that nobody uses, with all slots free. */
static _Atomic(struct mcct_batch *) kept;
static _Atomic unsigned made; /* that one included */

static bool may_make(void) {
    bool room = atomic_fetch_add(&made, 1) < BATCHES_MAX;
    if (!room)
        atomic_fetch_sub(&made, 1);
    return room;
}

static void unmake(struct mcct_batch *batch) {
    free(batch);
    atomic_fetch_sub(&made, 1);
}

static struct mcct_batch *take_batch(void) {
    struct mcct_batch *batch = atomic_exchange(&kept, NULL);
    if (batch != NULL)
        return batch;
    if (!may_make())
        return NULL;
    batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        atomic_fetch_sub(&made, 1);
    return batch;
}

static void give_batch(struct mcct_batch *batch) {
    struct mcct_batch *other = atomic_exchange(&kept, batch);
    if (other != NULL)
        unmake(other);
}

size_t mcct_batch_bytes(void) {
    return atomic_load(&made) * sizeof(struct mcct_batch);
}

/* Whether all items of a batch might not find room. */
static bool is_short(const struct mcct *tree) {
    const struct budget *budget = &tree->budget;
    return budget->max != 0 && budget->max - budget->used < BATCH_ITEMS * sizeof(struct mcct_node);
}

/* ---- items ---- */

static uint32_t add(struct mcct_batch *batch, uint32_t slot, uint64_t held) {
    uint32_t item = batch->items++;
    batch->slot[slot] = (uint16_t)item;
    batch->taken[item] = slot;
    batch->item[item] = held;
    return item;
}

/* Where the key is, or else the free slot where it belongs. */
static uint32_t probe(const struct mcct_batch *batch, uint64_t key, uint32_t hash) {
    uint32_t slot = hash >> (32 - BATCH_BITS);
    while (batch->slot[slot] != 0 && (batch->item[batch->slot[slot]] ^ key) > BATCH_WEIGHT)
        slot = (slot + 1) & SLOT_MASK;
    return slot;
}

/* One level down, with the weight. NULL: there is no room for it. */
static struct mcct_batch_level *try_enter(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint32_t frame, uint32_t weight, uint32_t hash) {
    uint64_t key = batch_key(level->item, frame);
    uint32_t slot = probe(batch, key, hash), item = batch->slot[slot];
    if (item == 0) {
        if (batch->items == BATCH_ITEMS)
            return NULL;
        item = add(batch, slot, key | weight);
    } else {
        if (batch_weight(batch, item) + weight > BATCH_WEIGHT)
            return NULL;
        batch->item[item] += weight;
    }
    level++;
    *level = (struct mcct_batch_level){.hash = hash, .item = item};
    return level;
}

/* ---- where the thread stands ---- */

/* Calls go through the cursor from now on: this level is no item, so that no key begins with it,
 * and there is no room for a new one: each call comes to mcct_batch_enter(). */
static struct mcct_batch_level *go_direct(struct mcct_batch *batch) {
    batch->direct = true;
    batch->items = BATCH_ITEMS;
    batch->level[0] = (struct mcct_batch_level){.item = BATCH_NONE};
    return batch->level;
}

/* The tree is packed, if it can be: no context of the batch may be too deep for that. */
static void pack(struct mcct *tree, uint64_t depth) {
    if (tree->packed != NULL && depth > DEPTH_PACKED)
        tree->loose = true;
    if (tree->packed == NULL && !tree->loose)
        tree_end_waiting(tree);
    if (tree->packed == NULL && !tree->loose)
        tree->loose = depth > DEPTH_PACKED || !packed_begin(tree);
    if (tree->loose)
        packed_end(tree);
}

/* The path to the cursor becomes the first items. Gives its level. */
static struct mcct_batch_level *stand(struct mcct_batch *batch) {
    struct mcct_cursor *cursor = batch->cursor;
    struct mcct *tree = cursor->tree;
    batch->begun++;
    if (cursor->missing != 0 || is_short(tree))
        return go_direct(batch);
    uint64_t depth = mcct_depth(cursor);
    pack(tree, depth);
    uint32_t known = depth < batch->reach ? (uint32_t)depth : batch->reach;
    uint32_t path[REACH_MAX], node = cursor->node;
    for (uint32_t i = known; i > 0; i--) {
        path[i - 1] = node;
        node = node_at(&tree->pool, node)->parent;
    }
    struct mcct_batch_level *level = batch->level;
    *level = (struct mcct_batch_level){0};
    batch->items = 1;
    batch->item[0] = 0;
    batch->node[0] = node;
    for (uint32_t i = 0; i < known; i++) {
        uint32_t frame = node_at(&tree->pool, path[i])->frame;
        level = try_enter(batch, level, frame, 0, batch_hash(batch, level->hash, frame));
        batch->node[i + 1] = path[i];
    }
    batch->carried = batch->items;
    return level;
}

/* The cursor goes from where it stood when the items began to `level`. */
static void follow(struct mcct_batch *batch, const struct mcct_batch_level *level) {
    const struct mcct_batch_level *levels = batch->level;
    uint32_t top = (uint32_t)(level - levels), stood = batch->carried - 1;
    uint32_t common = top < stood ? top : stood;
    while (levels[common].item != common)
        common--;
    mcct_pop(batch->cursor, stood - common);
    for (uint32_t i = common + 1; i <= top; i++)
        mcct_push(batch->cursor, batch_frame(batch, levels[i].item));
}

static void free_slots(struct mcct_batch *batch) {
    for (uint32_t i = 1; i < batch->items; i++)
        batch->slot[batch->taken[i]] = 0;
}

/* All is in the tree, no slot is taken, and the cursor is where `level` was. */
static void flush(struct mcct_batch *batch, const struct mcct_batch_level *level) {
    if (batch->direct)
        return;
    free_slots(batch);
    if (batch->cursor->tree->packed == NULL || !batch_run(batch))
        batch_merge(batch);
    follow(batch, level);
}

struct mcct_batch *mcct_batch_begin(struct mcct_cursor *cursor, struct mcct_batch_level **level) {
    struct mcct *tree = cursor->tree;
    struct mcct_batch *batch = cursor->missing == 0 && !is_short(tree) ? take_batch() : NULL;
    if (batch == NULL)
        return NULL;
    batch->cursor = cursor;
    batch->factor = tree->hash_factor;
    batch->reach = REACH_FIRST;
    batch->direct = false;
    if (tree->active != cursor)
        tree_activate(tree, cursor);
    *level = stand(batch);
    return batch;
}

void mcct_batch_end(struct mcct_batch *batch, struct mcct_batch_level *level) {
    if (batch == NULL)
        return;
    flush(batch, level);
    give_batch(batch);
}

/* ---- calls and returns that are not just an addition ---- */

struct mcct_batch_level *mcct_batch_enter(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint32_t frame, uint32_t weight, uint32_t hash) {
    struct mcct_batch_level *entered;
    while (!batch->direct) {
        entered = try_enter(batch, level, frame, weight, hash);
        if (entered != NULL)
            return entered;
        flush(batch, level);
        level = stand(batch);
        hash = batch_hash(batch, level->hash, frame);
    }
    mcct_push(batch->cursor, frame);
    if (weight > 0)
        mcct_credit(batch->cursor, weight);
    return level;
}

struct mcct_batch_level *mcct_batch_credit(struct mcct_batch *batch,
                                           struct mcct_batch_level *level) {
    bool has_item = !batch->direct && level != batch->level;
    if (has_item && batch_weight(batch, level->item) < BATCH_WEIGHT) {
        batch->item[level->item]++;
        return level;
    }
    flush(batch, level);
    if (batch->direct) {
        mcct_credit(batch->cursor, 1);
        return level;
    }
    level = stand(batch);
    if (!batch->direct && level != batch->level)
        batch->item[level->item]++;
    else /* the root */
        mcct_credit(batch->cursor, 1);
    return level;
}

struct mcct_batch_level *mcct_batch_leave(struct mcct_batch *batch, struct mcct_batch_level *level,
                                          uint64_t n, uint64_t *left) {
    uint64_t known = (uint64_t)(level - batch->level);
    flush(batch, batch->level);
    *left = known + mcct_pop(batch->cursor, n - known);
    if (batch->direct)
        return level;
    batch->reach = batch->reach < REACH_MAX ? 2 * batch->reach : REACH_MAX;
    return stand(batch);
}
