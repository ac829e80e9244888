/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * residual.c - items in two kinds of chains: to find one by node and frame, and all of a node.
 */
#include "common/tree/residual.h"

#include <stdlib.h>

#include "common/base/seeded_hash.h"
#include "common/tree/saturating.h"

#define FIRST_BITS  6
#define MEMORY_PART 8u  /* of the tree's, where that is limited */
#define CLIMB_MAX   64u /* callers that are asked for a residual of the same frame */

/* ---- chains ---- */

static uint32_t hash(uint64_t key, uint32_t bits) {
    return (uint32_t)(seeded_hash(0, key) >> (64 - bits));
}

static uint32_t *pair_chain(const struct residuals *r, uint32_t node, uint32_t frame) {
    return &r->by_pair[hash((uint64_t)node << 32 ^ frame, r->bits)];
}

static uint32_t *node_chain(const struct residuals *r, uint32_t node) {
    return &r->by_node[hash(node, r->bits)];
}

static struct residual *find(const struct residuals *r, uint32_t node, uint32_t frame) {
    if (r->n == 0)
        return NULL;
    uint32_t i = *pair_chain(r, node, frame);
    while (i != 0 && !(r->item[i].node == node && r->item[i].frame == frame))
        i = r->item[i].next_of_pair;
    return i != 0 ? &r->item[i] : NULL;
}

static void link_item(struct residuals *r, uint32_t i) {
    struct residual *item = &r->item[i];
    uint32_t *pair = pair_chain(r, item->node, item->frame), *node = node_chain(r, item->node);
    item->next_of_pair = *pair;
    item->next_of_node = *node;
    *pair = *node = i;
}

static void unlink_pair(struct residuals *r, uint32_t i) {
    uint32_t *at = pair_chain(r, r->item[i].node, r->item[i].frame);
    while (*at != i)
        at = &r->item[*at].next_of_pair;
    *at = r->item[i].next_of_pair;
}

/* ---- room ---- */

static size_t bytes_of(uint32_t bits) {
    return (size_t)RESIDUALS_BYTES << bits;
}

_Static_assert(RESIDUALS_BYTES == sizeof(struct residual) + 2 * sizeof(uint32_t),
               "an item, and the heads of two chains");

void residual_init(struct residuals *r, struct budget *budget, const struct node_pool *pool,
                   uint32_t capacity) {
    *r = (struct residuals){.budget = budget,
                            .pool = pool,
                            .most = capacity > RESIDUALS_MIN ? capacity : RESIDUALS_MIN};
}

static bool may_have(const struct residuals *r, uint32_t bits) {
    size_t max = r->budget->max;
    return 1u << bits <= r->most && (max == 0 || bytes_of(bits) <= max / MEMORY_PART);
}

static bool grow(struct residuals *old) {
    struct residuals r = *old;
    r.bits = old->bits != 0 ? old->bits + 1 : FIRST_BITS;
    if (!may_have(old, r.bits) || !budget_take(r.budget, bytes_of(r.bits)))
        return false;
    r.room = 1u << r.bits;
    r.item = calloc(r.room, sizeof *r.item);
    r.by_pair = calloc(r.room, sizeof *r.by_pair);
    r.by_node = calloc(r.room, sizeof *r.by_node);
    if (r.item == NULL || r.by_pair == NULL || r.by_node == NULL) {
        free(r.item);
        free(r.by_pair);
        free(r.by_node);
        budget_give(r.budget, bytes_of(r.bits));
        return false;
    }
    r.fresh = 1;
    for (uint32_t i = 1; i < old->fresh; i++)
        if (old->item[i].weight != 0) {
            r.item[r.fresh] = old->item[i];
            link_item(&r, r.fresh++);
        }
    residual_free(old);
    *old = r;
    return true;
}

void residual_free(struct residuals *r) {
    if (r->bits != 0)
        budget_give(r->budget, bytes_of(r->bits));
    free(r->item);
    free(r->by_pair);
    free(r->by_node);
    *r = (struct residuals){.budget = r->budget, .pool = r->pool, .most = r->most};
}

/* 0: there is no room. */
static uint32_t take(struct residuals *r) {
    uint32_t i = r->free;
    if (i != 0) {
        r->free = r->item[i].next_of_pair;
    } else {
        if (r->fresh == r->room && !grow(r))
            return 0;
        i = r->fresh++;
    }
    r->n++;
    return i;
}

/* It is in no chain. */
static void give(struct residuals *r, uint32_t i) {
    r->item[i] = (struct residual){.next_of_pair = r->free};
    r->free = i;
    r->n--;
}

/* ---- weight ---- */

static void join_further_up(struct residuals *r, uint32_t node, uint32_t frame, uint64_t weight) {
    struct residual *found = NULL;
    for (uint32_t n = 0; n < CLIMB_MAX && node != MCCT_ROOT && found == NULL; n++) {
        node = node_at(r->pool, node)->parent;
        found = find(r, node, frame);
    }
    if (found == NULL)
        found = find(r, MCCT_ROOT, frame);
    if (found != NULL)
        found->weight = add_saturating(found->weight, weight);
}

void residual_add(struct residuals *r, uint32_t node, uint32_t frame, uint64_t weight) {
    struct residual *found = find(r, node, frame);
    if (weight == 0)
        return;
    if (found != NULL) {
        found->weight = add_saturating(found->weight, weight);
        return;
    }
    uint32_t i = take(r);
    if (i == 0) {
        join_further_up(r, node, frame, weight);
        return;
    }
    r->item[i] = (struct residual){.node = node, .frame = frame, .weight = weight};
    link_item(r, i);
}

/* Item i, which is in no chain, becomes one of `node`. */
static void move_item(struct residuals *r, uint32_t i, uint32_t node) {
    struct residual *item = &r->item[i], *there = find(r, node, item->frame);
    item->node = node;
    if (there == NULL) {
        link_item(r, i);
        return;
    }
    there->weight = add_saturating(there->weight, item->weight);
    give(r, i);
}

void residual_lift(struct residuals *r, uint32_t node, uint32_t *lifted) {
    for (uint32_t *at = node_chain(r, node); *at != 0;) {
        uint32_t i = *at;
        if (r->item[i].node != node) {
            at = &r->item[i].next_of_node;
            continue;
        }
        *at = r->item[i].next_of_node;
        unlink_pair(r, i);
        r->item[i].next_of_node = *lifted;
        *lifted = i;
    }
}

void residual_put_down(struct residuals *r, uint32_t node, uint32_t lifted) {
    for (uint32_t next; lifted != 0; lifted = next) {
        next = r->item[lifted].next_of_node;
        move_item(r, lifted, node);
    }
}

/* ---- what is in it ---- */

static int by_frame(const void *a, const void *b) {
    uint32_t fa = ((const struct residual *)a)->frame, fb = ((const struct residual *)b)->frame;
    return (fa > fb) - (fa < fb);
}

bool residual_visit(const struct residuals *r, uint32_t node, mcct_residual_visit *visit,
                    void *arg) {
    size_t n = 0;
    if (r->n == 0)
        return true;
    for (uint32_t i = *node_chain(r, node); i != 0; i = r->item[i].next_of_node)
        n += r->item[i].node == node;
    if (n == 0)
        return true;
    struct residual *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return false;
    n = 0;
    for (uint32_t i = *node_chain(r, node); i != 0; i = r->item[i].next_of_node)
        if (r->item[i].node == node)
            sorted[n++] = r->item[i];
    qsort(sorted, n, sizeof *sorted, by_frame);
    for (size_t i = 0; i < n && visit(arg, sorted[i].frame, sorted[i].weight); i++)
        ;
    free(sorted);
    return true;
}
