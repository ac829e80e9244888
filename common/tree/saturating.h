/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * saturating.h - counts stop at the largest number instead of starting anew.
 */
#ifndef HCCT_SATURATING_H
#define HCCT_SATURATING_H

#include <stdint.h>

#include "common/wire/compiler.h"

static inline uint64_t add_saturating(uint64_t a, uint64_t b) {
    uint64_t sum;
    return hcct_unlikely(__builtin_add_overflow(a, b, &sum)) ? UINT64_MAX : sum;
}

static inline uint64_t multiply_saturating(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* The whole part; what is no number is as much as can be. */
static inline uint64_t whole_saturating(double x) {
    return x < 0x1p64 ? x > 0 ? (uint64_t)x : 0 : UINT64_MAX;
}

#endif
