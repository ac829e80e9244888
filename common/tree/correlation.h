/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * correlation.h - what the likeness of successive samples does to the error of their sum.
 */
#ifndef HCCT_CORRELATION_H
#define HCCT_CORRELATION_H

#include <stdbool.h>

/* What is drawn, a step after the other (preload/sample/interval.h). */
enum correlation_of {
    CORRELATION_OF_STEPS, /* samples, each of which weighs its step */
    CORRELATION_OF_BURSTS /* bursts, whose weight is not that of the step before */
};

/* The variance of the error of a sum, where that of independent terms is 1: `first` and `second`
 * are the correlations of a term with the next one and with the one after that, known but for a
 * deviation of `doubt`, were there none. In doubt the result is too large. doc/sampling.md has the
 * derivation. */
double correlation_factor(enum correlation_of of, double first, double second, double doubt);

#endif
