/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch_run.c - items sorted by frame; so each one's place among the callees of its caller is
 * known, and from the first item down the place of all.
 *
 * Nothing is followed from item to item: each step goes through all of them in an order that does
 * not depend on the step before.
 */
#include "common/tree/batch_run.h"

#include <string.h>

#include "common/tree/packed.h"
#include "common/tree/saturating.h"
#include "common/tree/tree.h"

#define DIGIT_BITS 13u /* few programs have more frames than one digit tells apart */
#define DIGITS     (1u << DIGIT_BITS)
#define FEW        64u /* items that are sorted without counting */

/* ---- sorting ---- */

static void sort_few(struct mcct_batch *batch, uint32_t n) {
    uint16_t *order = batch->order;
    for (uint32_t i = 1; i < n; i++) {
        uint16_t item = order[i];
        uint32_t at = i;
        for (; at > 0 && batch_frame(batch, batch->order[at - 1]) > batch_frame(batch, item); at--)
            order[at] = order[at - 1];
        order[at] = item;
    }
}

static void sort_by_digit(struct mcct_batch *batch, uint32_t n, unsigned shift) {
    uint16_t place[DIGITS + 1] = {0};
    uint16_t sorted[BATCH_ITEMS];
    for (uint32_t i = 0; i < n; i++)
        place[(batch_frame(batch, batch->order[i]) >> shift) % DIGITS + 1]++;
    for (uint32_t digit = 0; digit < DIGITS; digit++)
        place[digit + 1] = (uint16_t)(place[digit + 1] + place[digit]);
    for (uint32_t i = 0; i < n; i++) {
        uint16_t item = batch->order[i];
        sorted[place[(batch_frame(batch, item) >> shift) % DIGITS]++] = item;
    }
    memcpy(batch->order, sorted, n * sizeof *sorted);
}

/* All items but the first, in the order of their frames. */
static void sort(struct mcct_batch *batch) {
    uint32_t n = batch->items - 1, frames = 0;
    for (uint32_t i = 0; i < n; i++) {
        batch->order[i] = (uint16_t)(i + 1);
        frames |= batch_frame(batch, i + 1);
    }
    if (n <= FEW) {
        sort_few(batch, n);
        return;
    }
    for (unsigned shift = 0; shift < 32 && frames >> shift != 0; shift += DIGIT_BITS)
        sort_by_digit(batch, n, shift);
}

/* ---- places ---- */

/* What an item gained, which is less than RUN_TOTAL_MAX. */
static uint32_t gained(const struct mcct_batch *batch, uint32_t item) {
    return batch_weight(batch, item) * (uint32_t)batch->cursor->each;
}

/* Words of an item alone: a carry has one of its own. */
static uint16_t words_of(const struct mcct_batch *batch, uint32_t item) {
    return item > 0 && gained(batch, item) > RUN_WEIGHT ? 2 : 1;
}

/* So many words each item takes, with all that it calls. */
static void measure(struct mcct_batch *batch) {
    uint16_t *extent = batch->extent;
    for (uint32_t i = 0; i < batch->items; i++)
        extent[i] = words_of(batch, i);
    for (uint32_t i = batch->items - 1; i > 0; i--)
        extent[batch_parent(batch, i)] = (uint16_t)(extent[batch_parent(batch, i)] + extent[i]);
}

/* How far behind its caller each item stands: those with smaller frames go before it. */
static void place_callees(struct mcct_batch *batch) {
    uint16_t *filled = batch->filled;
    for (uint32_t i = 0; i < batch->items; i++)
        filled[i] = words_of(batch, i);
    for (uint32_t i = 0; i < batch->items - 1; i++) {
        uint32_t item = batch->order[i], caller = batch_parent(batch, item);
        batch->place[item] = filled[caller];
        filled[caller] = (uint16_t)(filled[caller] + batch->extent[item]);
    }
}

/* ---- writing ---- */

/* The callers of the first item, which have gained nothing. */
static uint64_t *put_path(const struct mcct_batch *batch, uint32_t depth, uint64_t *out) {
    const struct node_pool *pool = &batch->cursor->tree->pool;
    uint32_t node = batch->node[0];
    for (uint32_t d = depth; d > 0; d--) {
        const struct mcct_node *n = node_at(pool, node);
        out[d - 1] = run_word(d, n->frame, 0);
        node = n->parent;
    }
    return out + depth;
}

static void put_item(const struct mcct_batch *batch, uint32_t item, uint64_t *out) {
    uint32_t depth = batch->depth[item], weight = gained(batch, item);
    out[0] = run_word(depth, batch_frame(batch, item), weight & RUN_WEIGHT);
    if (weight > RUN_WEIGHT)
        out[1] = run_carry(depth, (uint32_t)(weight / RUN_CARRY));
}

/* An item's caller has its place before it has: it is an item before it. */
static uint64_t *put_items(struct mcct_batch *batch, uint32_t depth, uint64_t *out) {
    uint16_t *place = batch->place, *depths = batch->depth;
    place[0] = 0;
    depths[0] = (uint16_t)depth;
    for (uint32_t i = 1; i < batch->items; i++) {
        uint32_t caller = batch_parent(batch, i);
        place[i] = (uint16_t)(place[i] + place[caller]);
        depths[i] = (uint16_t)(depths[caller] + 1);
        put_item(batch, i, out + place[i] - 1);
    }
    return out + batch->extent[0] - 1;
}

static uint64_t times_of(const struct mcct_batch *batch) {
    uint64_t times = 0;
    for (uint32_t i = 1; i < batch->items; i++)
        times += batch_weight(batch, i);
    return times;
}

static size_t all_words(const struct mcct_batch *batch) {
    size_t words = 0;
    for (uint32_t i = 0; i < batch->items; i++)
        words += words_of(batch, i);
    return words;
}

bool batch_run(struct mcct_batch *batch) {
    struct mcct *tree = batch->cursor->tree;
    uint32_t depth = (uint32_t)mcct_depth(batch->cursor) - (batch->carried - 1);
    uint64_t times = times_of(batch), weight = multiply_saturating(times, batch->cursor->each);
    uint64_t *out = NULL;
    if (weight < RUN_TOTAL_MAX)
        out = packed_room(tree, depth + all_words(batch), weight);
    if (out == NULL) {
        packed_end(tree);
        return false;
    }
    sort(batch);
    measure(batch);
    place_callees(batch);
    packed_add(tree, (size_t)(put_items(batch, depth, put_path(batch, depth, out)) - out), weight);
    tree->total = add_saturating(tree->total, weight);
    tree->updates += times;
    return true;
}
