/*
 * batch_run.c - items sorted by frame, then linked callee after callee, then gone through from the
 * first item down.
 */
#include "daemon/tree/batch_run.h"

#include <string.h>

#include "daemon/tree/packed.h"
#include "daemon/tree/tree.h"

#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)
#define FEW        64u /* items that are sorted without counting */

/* ---- sorting ---- */

static void sort_few(struct mcct_batch *batch, uint32_t n) {
    uint16_t *order = batch->order;
    for (uint32_t i = 1; i < n; i++) {
        uint16_t item = order[i];
        uint32_t at = i;
        for (; at > 0 && batch->frame[order[at - 1]] > batch->frame[item]; at--)
            order[at] = order[at - 1];
        order[at] = item;
    }
}

static void sort_by_digit(struct mcct_batch *batch, uint32_t n, unsigned shift) {
    uint32_t place[DIGITS + 1] = {0};
    uint16_t sorted[BATCH_ITEMS];
    for (uint32_t i = 0; i < n; i++)
        place[(batch->frame[batch->order[i]] >> shift) % DIGITS + 1]++;
    for (uint32_t digit = 0; digit < DIGITS; digit++)
        place[digit + 1] += place[digit];
    for (uint32_t i = 0; i < n; i++) {
        uint16_t item = batch->order[i];
        sorted[place[(batch->frame[item] >> shift) % DIGITS]++] = item;
    }
    memcpy(batch->order, sorted, n * sizeof *sorted);
}

/* All items but the first, in the order of their frames. */
static void sort(struct mcct_batch *batch) {
    uint32_t n = batch->items - 1, frames = 0;
    for (uint32_t i = 0; i < n; i++) {
        batch->order[i] = (uint16_t)(i + 1);
        frames |= batch->frame[i + 1];
    }
    if (n <= FEW) {
        sort_few(batch, n);
        return;
    }
    for (unsigned shift = 0; shift < 32 && frames >> shift != 0; shift += DIGIT_BITS)
        sort_by_digit(batch, n, shift);
}

/* Each item's callees, in the order of their frames. Item 0 is nobody's callee: it ends the lists.
 */
static void link_callees(struct mcct_batch *batch) {
    memset(batch->callee, 0, batch->items * sizeof *batch->callee);
    for (uint32_t i = batch->items - 1; i-- > 0;) {
        uint16_t item = batch->order[i];
        uint32_t caller = batch->item[item].parent;
        batch->next[item] = batch->callee[caller];
        batch->callee[caller] = item;
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

static uint64_t *put_items(const struct mcct_batch *batch, uint32_t depth, uint64_t *out) {
    uint32_t item = 0;
    for (;;) {
        uint32_t next = batch->callee[item];
        depth++;
        while (next == 0 && item != 0) {
            next = batch->next[item];
            item = batch->item[item].parent;
            depth--;
        }
        if (next == 0)
            return out;
        item = next;
        *out++ = run_word(depth, batch->frame[item], batch->weight[item]);
    }
}

static uint64_t weight_of(const struct mcct_batch *batch) {
    uint64_t weight = 0;
    for (uint32_t i = 1; i < batch->items; i++)
        weight += batch->weight[i];
    return weight;
}

bool batch_run(struct mcct_batch *batch) {
    struct mcct *tree = batch->cursor->tree;
    uint32_t depth = (uint32_t)mcct_depth(batch->cursor) - (batch->carried - 1);
    uint64_t weight = weight_of(batch);
    uint64_t *out = packed_room(tree, depth + batch->items, weight);
    if (out == NULL) {
        tree_unpack(tree);
        return false;
    }
    sort(batch);
    link_callees(batch);
    packed_add(tree, (size_t)(put_items(batch, depth, put_path(batch, depth, out)) - out), weight);
    tree->total = add_saturating(tree->total, weight);
    tree->updates += weight;
    return true;
}
