/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.h - what is known of contexts that are not monitored: bounds on their weights, in cells of
 * 32 bits that they share, found by the hash of a context's path (path_hash.h).
 *
 * Homem, Carvalho: Finding top-k elements in data streams (Information Sciences 180, 2010). What is
 * too large for a cell fills it for good: its bound is then the one that holds for all, `unseen`.
 */
#ifndef HCCT_FILTER_H
#define HCCT_FILTER_H

#include "common/tree/tree.h"

#define FILTER_FULL UINT32_MAX /* a cell's bound is `unseen` */

struct filter {
    uint32_t *cell; /* NULL: there is no filter */
    uint32_t shift; /* of a hash, to its cell */
};

/* Cells for the tree, all with that bound, charged to its budget; its nodes have hashes from now
 * on. False: no memory, and there is no filter. */
bool filter_begin(struct filter *filter, struct mcct *tree, uint64_t bound);
void filter_free(struct filter *filter);

/* No context weighs more than that now, as far as the filter knows. */
void filter_fill(struct filter *filter, uint64_t bound);

static inline uint32_t *filter_cell(const struct filter *filter, uint32_t hash) {
    return &filter->cell[hash >> filter->shift];
}

static inline uint64_t filter_bound(const uint32_t *cell, uint64_t unseen) {
    return *cell != FILTER_FULL ? *cell : unseen;
}

/* Where the bound does not fit, `unseen` must be at least as large. */
static inline void filter_set(uint32_t *cell, uint64_t bound) {
    *cell = bound < FILTER_FULL ? (uint32_t)bound : FILTER_FULL;
}

#endif
