/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * minifloat.h - a minifloat of 16 bits: a number below 2048 is itself, else its eleven leading bits
 * and how many follow.
 */
#ifndef HCCT_MINIFLOAT_H
#define HCCT_MINIFLOAT_H

#include <stdint.h>

#define MINIFLOAT_EXACT 2048u /* what is below stands for itself */
#define MINIFLOAT_STEP  1024u /* numbers between two powers of two */

/* Not more than `value`. */
static inline uint32_t minifloat_floor(uint64_t value) {
    if (value < MINIFLOAT_EXACT)
        return (uint32_t)value;
    unsigned shift = 53u - (unsigned)__builtin_clzll(value);
    return shift * MINIFLOAT_STEP + (uint32_t)(value >> shift);
}

/* The number that it stands for. */
static inline uint64_t minifloat_value(uint32_t number) {
    if (number < MINIFLOAT_EXACT)
        return number;
    unsigned shift = number / MINIFLOAT_STEP - 1;
    uint64_t leading = MINIFLOAT_STEP + number % MINIFLOAT_STEP;
    return shift > 53 ? UINT64_MAX : leading << shift;
}

/* Not less than `value`. */
static inline uint32_t minifloat_ceil(uint64_t value) {
    uint32_t number = minifloat_floor(value);
    return number + (minifloat_value(number) < value);
}

#endif
