/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_order.h - the contexts of a profile in the order in which the page draws them: level by
 * level, the callees of a context side by side, the heaviest first. So the page need not sort them.
 */
#ifndef HCCT_PAGE_ORDER_H
#define HCCT_PAGE_ORDER_H

#include <stdint.h>

#include "common/profile/profile.h"

struct page_order {
    uint32_t n;
    uint32_t *node;     /* of the profile; 0, above all processes, is the first */
    uint32_t *children; /* by place in this order, how many it has */
};

/* By node: what it weighs with all below; the caller frees it. Gets memory by memory.h, as all of
 * these do. */
uint64_t *page_weights(const struct profile *profile);

/* `weight`: by node, the heaviest first. */
void page_order_make(struct page_order *order, const struct profile *profile,
                     const uint64_t *weight);
void page_order_free(struct page_order *order);

#endif
