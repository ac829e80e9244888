/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * burst_sums.h - how much bursts of calls differ among themselves, for what is left to chance.
 *
 * A burst that has seen y calls and stands for k such bursts weighs w = k y. Were all of its period
 * like it, the others of the k would have had as many; they differ by what bursts differ by
 * anywhere. So the estimate of the total varies by the sum of k (k - 1) (y - R)^2, where R is the
 * mean of y: one that stands for itself alone leaves nothing to chance.
 */
#ifndef HCCT_BURST_SUMS_H
#define HCCT_BURST_SUMS_H

#include <stdint.h>

#include "common/tree/saturating.h"

#define BURST_UNIT_SHIFT 6 /* weights are in units of 64 calls: squares of many bursts fit */

/* All only grow. */
struct burst_sums {
    uint64_t weight;  /* of all bursts: w */
    uint64_t squares; /* w^2 */
    uint64_t spread;  /* k (k - 1) y^2 */
    uint64_t crossed; /* k (k - 1) y */
};

/* One that has seen `calls` and stands for `each`, at least one. */
static inline void burst_sums_add(struct burst_sums *sums, uint64_t each, uint64_t calls) {
    uint64_t half = 1u << (BURST_UNIT_SHIFT - 1);
    uint64_t w = add_saturating(multiply_saturating(each, calls), half) >> BURST_UNIT_SHIFT;
    uint64_t square = multiply_saturating(w, w);
    sums->weight = add_saturating(sums->weight, w);
    sums->squares = add_saturating(sums->squares, square);
    sums->spread = add_saturating(sums->spread, square - square / each);
    sums->crossed = add_saturating(sums->crossed, multiply_saturating(w, each - 1));
}

static inline void burst_sums_add_all(struct burst_sums *sums, const struct burst_sums *more) {
    sums->weight = add_saturating(sums->weight, more->weight);
    sums->squares = add_saturating(sums->squares, more->squares);
    sums->spread = add_saturating(sums->spread, more->spread);
    sums->crossed = add_saturating(sums->crossed, more->crossed);
}

/* What the total varies by, squared, in the unit of the sums: `stands` is for how many bursts those
 * that there were have stood, together, and `pairs` the sum of k (k - 1). */
static inline double burst_sums_variance(const struct burst_sums *sums, double stands,
                                         double pairs) {
    double mean = stands > 0 ? (double)sums->weight / stands : 0;
    double variance = (double)sums->spread - 2 * mean * (double)sums->crossed + mean * mean * pairs;
    return variance > 0 ? variance : 0;
}

#endif
