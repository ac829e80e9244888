/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * poisson.h - what a sampled event adds to the variance of estimates, where points of a Poisson
 * process, R apart on average, decide which events are sampled.
 *
 * An event of length S is sampled with p = 1 - exp(-S/R) and weighs w = S/p. The sum of w over what
 * was sampled is the true one on average, and the sum of w^2 (1-p) over what was sampled is its
 * variance on average (Horvitz and Thompson): at most R w, and next to nothing where S is several
 * times R. S follows from w and R.
 *
 * A number of events, 1/p rounded by chance, adds n (n-1): with 1/p between n and n + 1 that is
 * (1-p)/p^2 and what the rounding varies by.
 *
 * Pure functions.
 */
#ifndef HCCT_POISSON_H
#define HCCT_POISSON_H

#include <math.h>
#include <stdint.h>

/* exp(-S/R) = 1 - p of an event that weighs `weight` >= R. Newton's method for S/R, from the right
 * of where a convex function is zero, so it can't go astray. */
static inline double poisson_missed(uint64_t weight, uint64_t mean) {
    double y = (double)weight / (double)mean, x = y;
    for (int i = 0; i < 30 && y > 1; i++) {
        double step = (x - y * -expm1(-x)) / (1 - y * exp(-x));
        x -= step;
        if (!(step > 1e-9 * x))
            break;
    }
    return y > 1 ? exp(-x) : 1;
}

/* What an event of that weight adds; `mean` is R > 0. */
static inline double poisson_variance(uint64_t weight, uint64_t mean) {
    return (double)weight * (double)weight * poisson_missed(weight, mean);
}

/* The same where it weighs a number of events. */
static inline double poisson_variance_of_number(uint64_t number) {
    return number > 1 ? (double)number * ((double)number - 1) : 0;
}

#endif
