/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * draws.h - how much weights of samples differ among themselves, for their effective sample size.
 *
 * Samples of weights w say as much as (sum of w)^2 / (sum of w^2) samples of one weight (Kish). A
 * sample whose interval was measured, not drawn (wall clock: a whole sleep), has no more chance
 * than its ends have, which is that of one sampling interval.
 */
#ifndef HCCT_DRAWS_H
#define HCCT_DRAWS_H

#include <math.h>
#include <stdint.h>

#define DRAWS_UNIT_SHIFT 10 /* sums are in units of 1,024 ns: squares of years fit */

/* Both only grow. */
struct draws {
    uint64_t weight;  /* of all samples */
    uint64_t squares; /* of their weights, of a measured one of what was left to chance */
};

/* Of a weight, where that is `most` at most; 0: all of it. */
static inline uint64_t draws_chance(uint64_t weight, uint64_t most) {
    return most > 0 && weight > most ? most : weight;
}

/* `most`: what was left to chance at most, 0: all of the weight. */
static inline void draws_add(struct draws *draws, uint64_t weight_ns, uint64_t most_ns) {
    uint64_t weight = (weight_ns + (1u << (DRAWS_UNIT_SHIFT - 1))) >> DRAWS_UNIT_SHIFT;
    uint64_t chance = draws_chance(weight, most_ns >> DRAWS_UNIT_SHIFT), square;
    if (__builtin_mul_overflow(chance, chance, &square) ||
        __builtin_add_overflow(draws->squares, square, &draws->squares))
        draws->squares = UINT64_MAX;
    draws->weight += weight;
}

/* An event's weight, of which it is known what it adds to the variance (poisson.h): both in units
 * of which 2^-shift are one of the sums'. */
static inline void draws_add_event(struct draws *draws, uint64_t weight, double variance,
                                   unsigned shift) {
    double square = ceil(ldexp(variance, -2 * (int)shift)); /* what varies at all is no 0 */
    if (__builtin_add_overflow(draws->squares, square < 0x1p63 ? (uint64_t)square : UINT64_MAX,
                               &draws->squares))
        draws->squares = UINT64_MAX;
    draws->weight += (weight + ((1u << shift) >> 1)) >> shift;
}

static inline void draws_add_all(struct draws *draws, const struct draws *more) {
    draws->weight += more->weight;
    if (__builtin_add_overflow(draws->squares, more->squares, &draws->squares))
        draws->squares = UINT64_MAX;
}

#endif
