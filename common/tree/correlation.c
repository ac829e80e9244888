/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * correlation.c - a program in phases of random length and things that change at once, beside.
 *
 * The correlation of what runs now and what runs in t is taken for m e^(-t/l), and what is lacking
 * to 1 at t = 0 for what changes faster than samples follow each other: the variogram with a nugget
 * of geostatistics. Times are in mean steps, and a step is uniform in [1/2, 3/2).
 */
#include "common/tree/correlation.h"

#include <math.h>

#define MEAN_SQUARE (13.0 / 12) /* of a step */
#define ROUNDS      60

/* The mean of e^(-S a). */
static double decay(double a) {
    return a < 1e-6 ? 1 - a : (exp(-a / 2) - exp(-3 * a / 2)) / a;
}

/* The mean of S e^(-S a). */
static double moment(double a) {
    double early = exp(-a / 2) * (a / 2 + 1), late = exp(-3 * a / 2) * (3 * a / 2 + 1);
    return a < 1e-3 ? 1 - a * MEAN_SQUARE : (early - late) / (a * a);
}

/* The rate at which the correlation of neighbours is `first`. */
static double rate_of(double first) {
    double low = 0, high = 1e3;
    for (int i = 0; i < ROUNDS; i++) {
        double middle = (low + high) / 2;
        if (decay(middle) > first)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

#define NEARLY_ALL 0.99 /* so slow is the decay there that the limit is taken, which has no 0/0 */

/* Of the part that decays. */
static double of_decay(enum correlation_of of, double first) {
    double a = rate_of(first < NEARLY_ALL ? first : NEARLY_ALL), rho = decay(a), factor;
    if (of == CORRELATION_OF_STEPS)
        factor = 1 + 2 * (moment(a) / (1 - rho) - 1 / a) / MEAN_SQUARE;
    else
        factor = 1 + 2 * rho / (1 - rho) - 2 / a;
    if (of == CORRELATION_OF_STEPS && first > NEARLY_ALL)
        factor *= (1 - first) / (1 - NEARLY_ALL);
    return factor;
}

double correlation_factor(enum correlation_of of, double first, double second, double doubt) {
    if (!(first > 0))
        return 1;
    first = first < 1 ? first : 1;
    doubt *= sqrt(1 - first); /* what is nearly always the same is known the better */
    double ratio = (fmax(second, 0) + doubt) / first; /* by which the part that decays does so */
    ratio = ratio > 1 ? 1 : ratio > first ? ratio : first;
    double part = first / ratio; /* at ratio = 1 nothing is left of it, the rest changes at once */
    return 1 - part + part * of_decay(of, ratio);
}
